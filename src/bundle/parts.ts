/** Fetched parts of an unfinished bundle, by digest: an interrupted run continues with what is there. */
export interface PartStore {
  /** Bytes; undefined if the part is not complete. */
  size(sha256: string): Promise<number | undefined>
  /** Fails and keeps nothing if the digest does not match. `what` describes the part for people. */
  put(sha256: string, bytes: AsyncIterable<Uint8Array>, what: string): Promise<number>
  content(sha256: string): AsyncIterable<Uint8Array>
  clear(): Promise<void>
}
