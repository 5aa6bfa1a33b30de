import type { Readable } from 'node:stream'
import { lines } from '../../server/lines.ts'
import { answerCall } from './handle-host-call.ts'
import type { CallScene } from './host-call-context.ts'

export interface CallEdges {
  /** Whoever calls says what they want in one line, and is there as long as this has no end. */
  readonly requests: Readable
  readonly answer: (line: string) => void
  readonly sceneAt: (base: string, gone: AbortSignal) => CallScene
}

/** Answers one call, in lines. */
export async function serveCall({ requests, answer, sceneAt }: CallEdges): Promise<void> {
  const gone = new AbortController()
  requests.once('end', () => gone.abort())
  requests.once('close', () => gone.abort())
  const calls = lines(requests)
  const call = await calls.next()
  // Read on, or nobody would hear that they are gone.
  requests.resume()
  try {
    if (call.done === true) return
    for await (const line of answerCall(call.value, (base) => sceneAt(base, gone.signal))) answer(line)
  } finally {
    requests.destroy()
  }
}
