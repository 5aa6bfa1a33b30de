import { HyperkubeError } from '../../kit/errors.ts'
import { unreachable } from '../fetcher.ts'
import type { Web } from './transport.ts'

/** So long without a byte is no connection any more, in milliseconds. */
const patience = 60_000

export function httpWeb(stall = patience): Web {
  return {
    async get(url, headers, signal) {
      signal.throwIfAborted()
      const silence = new AbortController()
      const timer = setTimeout(() => silence.abort(new Error(`no byte came for ${stall / 1000} s`)), stall)
      const either = AbortSignal.any([signal, silence.signal])
      const failed = (error: unknown): unknown => {
        clearTimeout(timer)
        signal.throwIfAborted()
        return error instanceof HyperkubeError ? error : unreachable(url, error)
      }
      try {
        // Compressed on the way, it would be other bytes than those that have the digest.
        const own = { 'accept-encoding': 'identity', 'user-agent': 'hyperkube' }
        const response = await fetch(url, {
          headers: { ...own, ...headers },
          signal: either,
          redirect: 'manual',
        })
        timer.refresh()
        return {
          status: response.status,
          header: (name) => response.headers.get(name) ?? undefined,
          body: chunks(response, timer, failed),
          leave: async () => {
            clearTimeout(timer)
            await response.body?.cancel().catch(() => undefined)
          },
        }
      } catch (error) {
        throw failed(error)
      }
    },
  }
}

async function* chunks(
  { body }: Response,
  timer: NodeJS.Timeout,
  failed: (error: unknown) => unknown,
): AsyncGenerator<Uint8Array> {
  try {
    for await (const chunk of body ?? []) {
      timer.refresh()
      yield chunk
    }
  } catch (error) {
    throw failed(error)
  } finally {
    clearTimeout(timer)
  }
}
