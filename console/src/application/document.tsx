/** One document: what became of it, and its file for a reason. */
import { useEffect, useState } from 'react';
import type { ApplicationReply } from '../../../src/subjects/desk/routes/forms.ts';
import { type DocumentFile, revealFile } from '../api/work.ts';
import card from '../base-ui/card.module.css';
import { useFormat } from '../format/format.ts';
import { useTexts } from '../texts/texts.ts';
import styles from './application.module.css';
import { blobOf, isPicture, nameOf, PDF_TYPE, pictureOf, typeOf } from './document-file.ts';
import { DocumentLines } from './document-lines.tsx';
import { usePersonal } from './personal.ts';
import { RevealDialog } from './reveal-dialog.tsx';

interface DocumentItemProps {
  readonly application: number;
  readonly document: ApplicationReply['documents'][number];
  readonly mayReveal: boolean;
}

export function DocumentItem({ application, document, mayReveal }: DocumentItemProps) {
  const { application: texts, codes } = useTexts();
  const format = useFormat();
  const [file, setFile] = usePersonal<DocumentFile>();
  const [isAsking, setAsking] = useState(false);
  const { id, purpose, state, reason, content_type, bytes, received_at } = document;
  const reasons: Readonly<Record<string, string>> = codes.documentReasons;
  const kind = [typeOf(content_type), bytes === null ? null : format.bytes(bytes)].filter(
    (part) => part !== null,
  );
  const name = `${texts.document} ${id}`;
  return (
    <li className={styles.document}>
      <p className={styles.documentHead}>
        <strong>
          {name}, {codes.purposes[purpose]}
        </strong>
        <span className={card.chip} data-state={state}>
          {codes.documentStates[state]}
        </span>
      </p>
      <p className={card.quiet}>
        {[...kind, format.time(received_at)].join(' · ')}
        {reason !== null && ` · ${reasons[reason] ?? reason}`}
      </p>
      {file !== null && <File file={file} id={id} name={name} />}
      {mayReveal && (
        <button
          type="button"
          aria-label={`${file === null ? texts.showFile : texts.hideFile}: ${name}`}
          onClick={() => (file === null ? setAsking(true) : setFile(null))}
        >
          {file === null ? texts.showFile : texts.hideFile}
        </button>
      )}
      <RevealDialog
        isOpen={isAsking}
        onClose={() => setAsking(false)}
        title={`${texts.showFile}: ${name}`}
        ask={(why, key) => revealFile(application, id, why, key)}
        onRevealed={setFile}
        known={{ 404: texts.fileGone }}
      />
    </li>
  );
}

function File({ file, id, name }: { file: DocumentFile; id: number; name: string }) {
  const { application: texts } = useTexts();
  if (isPicture(file)) return <img className={styles.picture} src={pictureOf(file)} alt={name} />;
  return (
    <>
      {file.lines === null ? (
        <p className={card.quiet}>{file.content_type === PDF_TYPE ? texts.noText : texts.noPicture}</p>
      ) : (
        <DocumentLines lines={file.lines} counted={file.counted} name={name} />
      )}
      <Download file={file} name={nameOf(file, id)} />
    </>
  );
}

/** The policy of the page lets no frame show a PDF. The address of the file is gone with the link. */
function Download({ file, name }: { file: DocumentFile; name: string }) {
  const { application: texts } = useTexts();
  const [address, setAddress] = useState<string | null>(null);
  useEffect(() => {
    const made = URL.createObjectURL(blobOf(file));
    setAddress(made);
    return () => URL.revokeObjectURL(made);
  }, [file]);
  if (address === null) return null;
  return (
    <p>
      <a href={address} download={name}>
        {texts.download} {name}
      </a>
    </p>
  );
}
