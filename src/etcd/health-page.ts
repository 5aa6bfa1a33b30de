import { EtcdError } from './etcd-error.ts'
import type { GatewayResponse } from './gateway.ts'
import type { MemberHealth } from './member.ts'

/** Reads health from the member's /livez and /readyz pages. */
export async function readMemberHealth(
  getPage: (path: string) => Promise<GatewayResponse>,
): Promise<MemberHealth> {
  const [live, ready] = await Promise.all([checkPage(getPage, '/livez'), checkPage(getPage, '/readyz')])
  const failing = [...new Set([...live.failing, ...ready.failing])]
  return { live: live.ok, ready: live.ok && ready.ok, failing, reason: ready.reason ?? live.reason }
}

interface PageCheck {
  readonly ok: boolean
  readonly failing: readonly string[]
  readonly reason: string | undefined
}

async function checkPage(
  getPage: (path: string) => Promise<GatewayResponse>,
  path: string,
): Promise<PageCheck> {
  try {
    const { status, text } = await getPage(`${path}?verbose`)
    if (status === 200) return { ok: true, failing: [], reason: undefined }
    const lines = [...text.matchAll(/^\[-\](\S+) failed: (.*)$/gm)]
    const reasons = lines.map(([, name, cause]) => `${name}: ${cause}`)
    return {
      ok: false,
      failing: lines.map(([, name = '']) => name),
      reason: reasons.length > 0 ? reasons.join('; ') : `${path} answers ${status}`,
    }
  } catch (error) {
    if (!(error instanceof EtcdError)) throw error
    return { ok: false, failing: [], reason: error.message }
  }
}
