import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { BusyCluster, formatBusyFigures } from '../support/busy-cluster.ts'
import { expectThirtyTestsPass, writeThirtyTestList } from '../support/conformance-tests.ts'
import {
  createEveryKind,
  expectEqualObjects,
  listRunningPrograms,
  listServedVersions,
  readSettledObjects,
} from '../support/held-upgrade.ts'
import { type EvidenceRow, writeEvidenceSection } from '../support/held-upgrade-evidence.ts'
import { parseKubeconfig } from '../support/kubeconfig.ts'
import { openFreshLab } from '../support/lab.ts'
import { createRandom } from '../support/random.ts'
import { startDnsServer } from '../support/test-dns-server.ts'
import { createUpCluster, type UpCluster } from '../support/up-cluster.ts'

const shape = process.env['HELD_UPGRADE_SHAPE'] ?? '3+2'
const seed = Number(process.env['HELD_UPGRADE_SEED'] ?? Date.now() % 1_000_000)
const [from, to] = ['1.36.4', '1.37.1'] as const
/** Interruptions of the hold, and again of the rollback. */
const interruptions: readonly Interruption[] = ['power cut', 'SIGKILL', 'SIGKILL']
/** Maximum number of events after which a run is interrupted. A hold on 3+2 hosts has about 200 events. */
const eventsPerRun = 60
const powerCutHost = 'cp2'

type Interruption = 'SIGKILL' | 'power cut'

/**
 * Starts a command and interrupts it after a number of events. Returns the last step before the interruption
 * and the exit code.
 */
async function interrupt(
  { operator, lab }: UpCluster,
  kind: Interruption,
  afterEvents: number,
  args: readonly string[],
): Promise<string> {
  const cutPower = async (): Promise<void> => {
    await (await lab.host(powerCutHost)).powerCut()
    await lab.start(powerCutHost)
  }
  let [remaining, step] = [afterEvents, 'before the first step']
  let injected: Promise<void> = Promise.resolve()
  const command = operator.startWithEvents(
    ({ body }) => {
      if (remaining > 0 && body.type === 'step-started') ({ step } = body)
      remaining -= 1
      if (remaining !== 0) return
      if (kind === 'SIGKILL') command.kill(kind)
      else injected = cutPower()
    },
    ...args,
  )
  const { code } = await command.ended
  await injected
  return `${remaining > 0 ? 'ended before it' : step}, exit code ${code}`
}

test(
  `${from} to ${to}, held and rolled back on ${shape}, each interrupted (HELD_UPGRADE_SEED=${seed})`,
  { timeout: 2_400_000 },
  async () => {
    process.stderr.write(`HELD_UPGRADE_SEED=${seed}\n`)
    await using stack = new AsyncDisposableStack()
    const lab = await openFreshLab('hold-interrupted')
    stack.defer(async () => lab.down())
    const cluster = await createUpCluster(lab, shape, from, {
      ...{ survivesPowerCut: true, addons: true, forward: [lab.gateway] },
      parts: [`kubernetes@v${from}`, `kubernetes@v${to}`, `e2e@v${from}`, `test-images@v${from}`],
      // The address of the gateway exists as soon as the hosts run.
      async prepare() {
        stack.use(await startDnsServer(lab.gateway))
      },
    })
    stack.defer(async () => cluster.close())
    const { operator, api, hosts } = cluster
    const random = createRandom(seed)
    const credentials = parseKubeconfig((await operator.must(0, 'kubeconfig')).stdout)
    const servers = hosts.filter(({ name }) => name.startsWith('cp'))
    const oldPrograms = await listRunningPrograms(hosts)
    const clientHost = hosts.at(-1)
    if (clientHost === undefined) throw new Error('there is no host')
    const rows: EvidenceRow[] = []
    const interruptAll = async (nextCommand: () => Promise<readonly string[]>): Promise<void> => {
      for (const kind of interruptions) {
        const args = await nextCommand()
        const afterEvents = 1 + Math.floor(random() * eventsPerRun)
        const result = await interrupt(cluster, kind, afterEvents, args)
        process.stderr.write(`${args.join(' ')}, ${kind} after ${afterEvents} events: ${result}\n`)
        rows.push([`\`${args.join(' ')}\`: ${kind}`, result])
      }
      await operator.must(0, ...(await nextCommand()))
    }
    const rollback = async (): Promise<readonly string[]> => {
      const file = await readFile(join(operator.directory, 'cluster.yml'), 'utf8')
      return file.includes('heldUpgrade') ? ['upgrade', 'rollback', '--yes'] : ['up', '--yes']
    }

    const busy = await BusyCluster.open(api, clientHost, credentials)
    await busy.waitForFirstResponses()
    await interruptAll(async () => ['upgrade', '--to', to, '--hold', '--yes', '--no-snapshot'])
    expect(await listServedVersions(servers, credentials)).toEqual([`v${to} as 1.36`])
    await createEveryKind(api)
    const objects = await readSettledObjects(api)
    await interruptAll(rollback)
    expect(await listServedVersions(servers, credentials)).toEqual([`v${from} as 1.36`])
    expect(await listRunningPrograms(hosts)).toEqual(oldPrograms)
    const compared = await expectEqualObjects(api, objects)
    const figures = await busy.stop(api)
    process.stderr.write(`${formatBusyFigures(figures)}\n`)
    expect((await operator.must(0, 'plan')).stdout).toContain('nothing to do')
    expect(figures.lost).toEqual([])
    await BusyCluster.cleanUp(api)
    const list = await writeThirtyTestList(cluster)
    const { counts } = await expectThirtyTestsPass(cluster, { kubernetes: `v${from}`, list })
    await writeEvidenceSection('Interrupted and rolled back', text, [
      ['hosts', shape],
      ...rows,
      ['objects compared, all equal', compared],
      ['API requests', figures.api.requests],
      ['– failed', figures.api.failed.length],
      ['– sent again by their clients', figures.api.retried],
      ['requests to the service', figures.service.requests],
      ['– failed', figures.service.failed.length],
      ['writes acknowledged', figures.writes.acknowledged.length],
      ['– acknowledged and lost', figures.lost.length],
      ['conformance tests passed on the old version afterwards', `${counts.passed} of ${counts.chosen}`],
    ])
  },
)

const text = `The same load, with a random number of events before each interruption (\`HELD_UPGRADE_SEED=${seed}\`). Each row is one run of a command; the next run continues from there. The power cut hits ${powerCutHost}, which starts again at once. A power cut resets requests of clients that use this control plane, so failed requests are counted but allowed.`
