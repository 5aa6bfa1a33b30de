import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { openFreshLab } from '../support/lab.ts'
import { createRandom } from '../support/random.ts'
import { listChain, listChainParts } from '../support/upgrade-chain.ts'
import { createUpCluster } from '../support/up-cluster.ts'

const shape = process.env['UPGRADE_SHAPE'] ?? '3+2'
const chain = listChain(process.env['UPGRADE_FROM'] ?? 'v1.32.5')
const [from] = chain
const to = (chain.at(-1) ?? from).slice(1)
const seed = Number(process.env['UPGRADE_SEED'] ?? Date.now() % 1_000_000)
const kills = Number(process.env['UPGRADE_KILLS'] ?? 10)
/**
 * Maximum number of events after which a run is killed. The upgrade of one minor has some hundreds of events.
 */
const eventsPerKill = 300
const evidence = join(import.meta.dirname, '../../docs/evidence/upgrade-chain-interruptions.md')

test(
  `${from} to ${to} on ${shape}, killed ${kills} times and repeated: ends the same (UPGRADE_SEED=${seed})`,
  { timeout: 3_600_000 },
  async () => {
    process.stderr.write(`UPGRADE_SEED=${seed}\n`)
    const random = createRandom(seed)
    const lab = await openFreshLab('upgrade-chain-interrupted')
    const cluster = await createUpCluster(lab, shape, from.slice(1), { parts: listChainParts(chain) })
    try {
      const { operator } = cluster
      const readVersions = async (): Promise<string> => {
        const text = await readFile(join(operator.directory, 'cluster.yml'), 'utf8')
        const [control, workers] = text.match(/(?<=kubernetes: "?)[\d.]+/g) ?? []
        return workers === undefined ? `${control}` : `${control}, workers ${workers}`
      }
      const rows: string[] = []
      for (let kill = 1; kill <= kills; kill += 1) {
        let remaining = 1 + Math.floor(random() * eventsPerKill)
        let step = 'before the first step'
        const command = operator.startWithEvents(
          ({ body }) => {
            if (body.type === 'step-started') ({ step } = body)
            remaining -= 1
            if (remaining === 0) command.kill('SIGKILL')
          },
          ...['upgrade', '--to', to, '--yes', '--no-snapshot'],
        )
        const { code, output } = await command.ended
        // A run with fewer events than the chosen number is not killed, so it exits with 0.
        expect([0, 137], output).toContain(code)
        const row = `| ${kill} | ${code === 0 ? 'ended by itself' : step} | ${await readVersions()} |`
        process.stderr.write(`${row}\n`)
        rows.push(row)
      }
      await operator.must(0, 'upgrade', '--to', to, '--yes', '--no-snapshot')
      expect((await operator.must(0, 'plan')).stdout).toContain('nothing to do')
      const text = await readFile(join(operator.directory, 'cluster.yml'), 'utf8')
      expect(text).toContain(`kubernetes: "${to}"`)
      expect(text).not.toContain('workers:')
      const { items } = await cluster.api.get<{
        items: { spec: { unschedulable?: boolean }; status: { nodeInfo: { kubeletVersion: string } } }[]
      }>('/api/v1/nodes')
      expect(new Set(items.map(({ status }) => status.nodeInfo.kubeletVersion))).toEqual(new Set([`v${to}`]))
      expect(items.filter(({ spec }) => spec.unschedulable === true)).toEqual([])
      await writeFile(evidence, formatEvidence(rows))
    } finally {
      await cluster.close()
      await lab.down()
    }
  },
)

function formatEvidence(rows: readonly string[]): string {
  return `# An upgrade across minors, killed and repeated

Written by \`test/full/upgrade-chain-interruptions.test.ts\` on ${new Date().toISOString().slice(0, 10)}, with \`UPGRADE_SEED=${seed}\`:
\`hyperkube upgrade --to ${to}\` on a cluster of Kubernetes ${from.slice(1)}, ${shape} hosts of the lab. The command was killed with SIGKILL
after a random number of events, and repeated. At the end all hosts had ${to}, no node was cordoned, and \`plan\` found nothing to do.

| run | killed at step | versions in cluster.yml afterwards |
|---|---|---|
${rows.join('\n')}
`
}
