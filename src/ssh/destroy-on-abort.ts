import type { Duplex } from 'node:stream'
import { asError } from './deadline.ts'

/**
 * Destroys the stream when one of the signals is aborted. The abort reason becomes the error of the stream.
 */
export function destroyOnAbort<T extends Duplex>(stream: T, signals: readonly AbortSignal[]): T {
  const listeners = signals.map((signal) => ({ signal, abort: () => stream.destroy(asError(signal.reason)) }))
  for (const { signal, abort } of listeners) {
    if (signal.aborted) abort()
    else signal.addEventListener('abort', abort)
  }
  stream.once('close', () => {
    for (const { signal, abort } of listeners) signal.removeEventListener('abort', abort)
  })
  // An error event without a listener would crash the process.
  return stream.on('error', () => undefined)
}
