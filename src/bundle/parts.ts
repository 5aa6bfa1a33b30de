/** What a bundle is made of, by digest, until it is whole: a run that was cut goes on with what has come. */
export interface Parts {
  /** In bytes; nothing when it has not come as a whole. */
  size(sha256: string): Promise<number | undefined>
  /** Fails when the bytes are others; then nothing of them is kept. `what` they should be is for people. */
  put(sha256: string, bytes: AsyncIterable<Uint8Array>, what: string): Promise<number>
  content(sha256: string): AsyncIterable<Uint8Array>
  clear(): Promise<void>
}
