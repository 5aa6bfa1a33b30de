import type { Readable } from 'node:stream'
import { readLines } from '../../server/lines.ts'
import { handleHostCall } from './handle-host-call.ts'
import type { HostCallContext } from './host-call-context.ts'

export interface HostCallDeps {
  /** The request, one line. The caller is connected until this stream ends. */
  readonly requests: Readable
  readonly respond: (line: string) => void
  readonly createContext: (base: string, callerGone: AbortSignal) => HostCallContext
}

/** Handles one call; writes response lines. */
export async function serveCall({ requests, respond, createContext }: HostCallDeps): Promise<void> {
  const callerGone = new AbortController()
  requests.once('end', () => callerGone.abort())
  requests.once('close', () => callerGone.abort())
  const calls = readLines(requests)
  const call = await calls.next()
  // Keep reading; otherwise the end of the stream is not noticed.
  requests.resume()
  try {
    if (call.done === true) return
    for await (const line of handleHostCall(call.value, (base) => createContext(base, callerGone.signal)))
      respond(line)
  } finally {
    requests.destroy()
  }
}
