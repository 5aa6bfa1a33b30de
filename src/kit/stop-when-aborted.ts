/** Passes chunks through until an abort. Reading or writing gigabytes takes minutes. */
export async function* stopWhenAborted(
  bytes: AsyncIterable<Uint8Array>,
  signal: AbortSignal,
): AsyncGenerator<Uint8Array> {
  for await (const chunk of bytes) {
    signal.throwIfAborted()
    yield chunk
  }
}
