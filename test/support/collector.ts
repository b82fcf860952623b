/** A collector of OpenTelemetry: takes spans by OTLP over HTTP with protobuf, as a real one does. */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { gunzipSync } from 'node:zlib';

export interface CollectedSpan {
  readonly traceId: string;
  readonly spanId: string;
  /** Empty without a parent. */
  readonly parentId: string;
  readonly name: string;
  readonly attributes: Readonly<Record<string, string | number>>;
  /** Traces and spans: `${traceId}:${spanId}`. */
  readonly links: readonly string[];
  readonly isError: boolean;
  /** Of the process. */
  readonly resource: Readonly<Record<string, string | number>>;
}

export interface Collector {
  readonly url: string;
  readonly spans: readonly CollectedSpan[];
  /** All that came, as text. */
  readonly received: () => string;
  /** The status of its answers, 200 at first; null: it takes requests and never answers. */
  answer(status: number | null): void;
  close(): Promise<void>;
}

/** Starts a collector on a free port. */
export async function startCollector(): Promise<Collector> {
  const spans: CollectedSpan[] = [];
  const bodies: Buffer[] = [];
  let status: number | null = 200;
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk);
    const sent = Buffer.concat(chunks);
    const body = request.headers['content-encoding'] === 'gzip' ? gunzipSync(sent) : sent;
    bodies.push(body);
    if (status === 200) spans.push(...readExport(body));
    if (status === null) return;
    response.writeHead(status, { 'Content-Type': 'application/x-protobuf' }).end();
  });
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    spans,
    received: () => Buffer.concat(bodies).toString('latin1'),
    answer: (next) => {
      status = next;
    },
    close: () =>
      new Promise((closed) => {
        server.close(() => closed());
        server.closeAllConnections();
      }),
  };
}

type Field = Buffer | bigint;

/** The fields of a protobuf message by their numbers: bytes, or a number. */
function fieldsOf(message: Buffer): Map<number, Field[]> {
  const fields = new Map<number, Field[]>();
  let at = 0;
  const varint = () => {
    let value = 0n;
    for (let shift = 0n; ; shift += 7n) {
      const byte = message.readUInt8(at++);
      value |= BigInt(byte & 127) << shift;
      if (byte < 128) return value;
    }
  };
  while (at < message.length) {
    const tag = Number(varint());
    const wire = tag % 8;
    let value: Field;
    if (wire === 0) value = varint();
    else {
      const length = wire === 1 ? 8 : wire === 5 ? 4 : Number(varint());
      value = message.subarray(at, at + length);
      at += length;
    }
    const number = Math.floor(tag / 8);
    fields.set(number, [...(fields.get(number) ?? []), value]);
  }
  return fields;
}

const parts = (fields: Map<number, Field[]>, number: number) =>
  (fields.get(number) ?? []).map((part) => fieldsOf(part as Buffer));
const hex = (fields: Map<number, Field[]>, number: number) =>
  (fields.get(number)?.[0] as Buffer | undefined)?.toString('hex') ?? '';
const text = (fields: Map<number, Field[]>, number: number) => String(fields.get(number)?.[0] ?? '');

/** An ExportTraceServiceRequest. */
function readExport(body: Buffer): CollectedSpan[] {
  return parts(fieldsOf(body), 1).flatMap((resourceSpans) => {
    const resource = attributesOf(parts(resourceSpans, 1)[0] ?? new Map(), 1);
    return parts(resourceSpans, 2).flatMap((scope) =>
      parts(scope, 2).map((span) => ({
        traceId: hex(span, 1),
        spanId: hex(span, 2),
        parentId: hex(span, 4),
        name: text(span, 5),
        attributes: attributesOf(span, 9),
        links: parts(span, 13).map((link) => `${hex(link, 1)}:${hex(link, 2)}`),
        isError: parts(span, 15)[0]?.get(3)?.[0] === 2n,
        resource,
      })),
    );
  });
}

function attributesOf(fields: Map<number, Field[]>, number: number): Record<string, string | number> {
  const entries = parts(fields, number).map((pair) => {
    const [value = new Map<number, Field[]>()] = parts(pair, 2);
    return [text(pair, 1), value.has(3) ? Number(value.get(3)?.[0]) : text(value, 1)];
  });
  return Object.fromEntries(entries);
}
