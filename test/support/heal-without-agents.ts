import type { Host } from '../../lab/hosts/host.ts'
import { until } from '../../src/kit/poll-until.ts'
import type { AloneResult } from './heal-figures.ts'
import type { HealRow } from './heal-row.ts'
import type { HealScene } from './heal-cluster.ts'

/** How long systemd and Kubernetes have, in milliseconds. */
export const aloneFor = 90_000

/** No agent runs anywhere, until whoever has called it is done. */
export async function withoutAgents(scene: HealScene): Promise<AsyncDisposable> {
  await scene.everywhere(`systemctl stop hyperkube-agent
    [ "$(systemctl is-active hyperkube-agent || true)" != active ]`)
  return { [Symbol.asyncDispose]: async () => scene.everywhere('systemctl start hyperkube-agent') }
}

/** The same fault, and nobody of ours to see it. */
export async function aloneRun(scene: HealScene, row: HealRow, host: Host): Promise<AloneResult> {
  const wrong: string[] = []
  const note = (error: unknown): void =>
    void wrong.push(error instanceof Error ? error.message : String(error))
  const works = async (within: number): Promise<number> => {
    const began = performance.now()
    await until(`${row.what} on ${host.name} to heal`, async () => row.healed(scene, host), {
      within,
      every: 300,
    })
    return performance.now() - began
  }
  let healed: number | undefined
  try {
    await row.inject(scene, host)
    healed = await works(aloneFor).catch(() => undefined)
  } catch (error) {
    note(error)
  } finally {
    await row.undo(scene, host).catch(note)
    // The next one begins with a cluster that is well, whoever has mended it.
    await works(row.within).catch(note)
  }
  return { row, healed, wrong }
}
