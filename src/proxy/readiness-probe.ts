import { describe } from '../kit/errors.ts'
import { get, Silence } from './http-get.ts'
import type { Trust } from './server-agents.ts'
import type { Observation } from './upstreams.ts'

/**
 * Asks a server whether it is ready. `introduced` tells it who asks: most tell everybody, and then our certificate need
 * not be looked at every second.
 */
export async function ask(
  trust: Trust,
  server: string,
  introduced: boolean,
  within: number,
): Promise<Observation> {
  const agent = introduced ? (trust.introduced ?? trust.anonymous) : trust.anonymous
  try {
    const { status, text } = await get({ agent, server, path: '/readyz', within, limit: 100_000 })
    return readiness(status, text)
  } catch (error) {
    return error instanceof Silence ? { kind: 'silent', reason: error.message } : trouble(error)
  }
}

/** What an answer to /readyz means. The text names the checks that failed, one per line. */
export function readiness(status: number, text: string): Observation {
  if (status === 200) return { kind: 'ready' }
  if (status === 401 || status === 403) return { kind: 'unclear', reason: `does not tell us: ${status}` }
  const checks = [...text.matchAll(/^\[-\](\S+)/gm)].map(([, name]) => name)
  const which = checks.length === 0 ? '' : `: ${checks.slice(0, 5).join(', ')}`
  const kind = checks.includes('shutdown') ? 'draining' : 'unready'
  return { kind, reason: `answers ${status}${which}` }
}

/** What an error on the way means: the system's own say that nobody is there, all others that it is somebody else. */
export function trouble(error: unknown): Observation {
  const code = error instanceof Error && 'code' in error ? String(error.code) : ''
  const nobody = /^E[A-Z]+$/.test(code) && code !== 'EPROTO'
  return { kind: nobody ? 'refused' : 'untrusted', reason: describe(error) }
}
