/** The part of a form that shows an answer of the service. The page's script fills it. */
import { type Html, html } from './html.ts';

/** A note, and below it the status, headers and body of the answer. `label` names the box to screen readers. */
export function answerBox(label: string): Html {
  return html`<p data-part="note" role="status" class="try-note"></p>
      <section data-part="answer" class="answer" hidden aria-label="${label}">
        <h4 data-part="status"></h4>
        <dl data-part="headers"></dl>
        <pre tabindex="0"><code data-part="body"></code></pre>
      </section>`;
}
