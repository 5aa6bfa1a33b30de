/**
 * Store for the fetched parts of an unfinished bundle. An interrupted run continues with the parts that are
 * already there.
 */
export interface PartStore {
  /** Size of a part in bytes; undefined if the part is not complete. */
  size(sha256: string): Promise<number | undefined>
  /**
   * Stores a part and returns its size. If the digest does not match, throws and stores nothing. `what`
   * describes the part in messages.
   */
  put(sha256: string, bytes: AsyncIterable<Uint8Array>, what: string): Promise<number>
  content(sha256: string): AsyncIterable<Uint8Array>
  clear(): Promise<void>
}
