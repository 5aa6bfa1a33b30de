import { EtcdError } from './etcd-error.ts'
import type { Page } from './gateway.ts'
import type { MemberHealth } from './member.ts'

/** What a member's two pages about itself say. */
export async function healthOf(page: (path: string) => Promise<Page>): Promise<MemberHealth> {
  const [live, ready] = await Promise.all([check(page, '/livez'), check(page, '/readyz')])
  const failing = [...new Set([...live.failing, ...ready.failing])]
  return { live: live.well, ready: live.well && ready.well, failing, reason: ready.reason ?? live.reason }
}

interface Checked {
  readonly well: boolean
  readonly failing: readonly string[]
  readonly reason: string | undefined
}

async function check(page: (path: string) => Promise<Page>, path: string): Promise<Checked> {
  try {
    const { status, text } = await page(`${path}?verbose`)
    if (status === 200) return { well: true, failing: [], reason: undefined }
    const lines = [...text.matchAll(/^\[-\](\S+) failed: (.*)$/gm)]
    const words = lines.map(([, name, why]) => `${name}: ${why}`)
    return {
      well: false,
      failing: lines.map(([, name = '']) => name),
      reason: words.length > 0 ? words.join('; ') : `${path} answers ${status}`,
    }
  } catch (error) {
    if (!(error instanceof EtcdError)) throw error
    return { well: false, failing: [], reason: error.message }
  }
}
