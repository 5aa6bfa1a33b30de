import type { Duplex } from 'node:stream'
import { asError } from './deadline.ts'

/** A connection that ends with what it goes over, and when its caller has enough of it; then the reason is its error. */
export function bound<T extends Duplex>(stream: T, signals: readonly AbortSignal[]): T {
  const listeners = signals.map((signal) => ({ signal, abort: () => stream.destroy(asError(signal.reason)) }))
  for (const { signal, abort } of listeners) {
    if (signal.aborted) abort()
    else signal.addEventListener('abort', abort)
  }
  stream.once('close', () => {
    for (const { signal, abort } of listeners) signal.removeEventListener('abort', abort)
  })
  // An error of a stream that nobody listens to would end us.
  return stream.on('error', () => undefined)
}
