import type { Readable } from 'node:stream'
import { readLines } from '../../server/lines.ts'
import { handleHostCall } from './handle-host-call.ts'
import type { HostCallContext } from './host-call-context.ts'

export interface HostCallDeps {
  /** Stream with one request line. It ends when the caller disconnects. */
  readonly requests: Readable
  readonly respond: (line: string) => void
  readonly createContext: (base: string, callerGone: AbortSignal) => HostCallContext
}

/** Handles one call and writes the lines of the response. */
export async function serveCall({ requests, respond, createContext }: HostCallDeps): Promise<void> {
  const callerGone = new AbortController()
  requests.once('end', () => callerGone.abort())
  requests.once('close', () => callerGone.abort())
  const calls = readLines(requests)
  const call = await calls.next()
  // Keep reading the stream, or its end would not be noticed.
  requests.resume()
  try {
    if (call.done === true) return
    for await (const line of handleHostCall(call.value, (base) => createContext(base, callerGone.signal)))
      respond(line)
  } finally {
    requests.destroy()
  }
}
