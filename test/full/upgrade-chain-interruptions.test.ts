import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { openFreshLab } from '../support/lab.ts'
import { createRandom } from '../support/random.ts'
import { listChain, listChainParts } from '../support/upgrade-chain.ts'
import { createUpCluster } from '../support/up-cluster.ts'

const shape = process.env['UPGRADE_SHAPE'] ?? '3+2'
const chain = listChain(process.env['UPGRADE_FROM'] ?? 'v1.32.6')
const [from] = chain
const to = (chain.at(-1) ?? from).slice(1)
const seed = Number(process.env['UPGRADE_SEED'] ?? Date.now() % 1_000_000)
const kills = Number(process.env['UPGRADE_KILLS'] ?? 10)
/** Events of one minor on this shape, about. Kills are spread over the whole chain. */
const eventsPerKill = 100

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
      for (let kill = 1; kill <= kills; kill += 1) {
        let remaining = 1 + Math.floor(random() * eventsPerKill)
        const command = operator.startWithEvents(
          ({ body: { type } }) => {
            remaining -= 1
            if (remaining !== 0) return
            process.stderr.write(`kill ${kill} at ${type}\n`)
            command.kill('SIGKILL')
          },
          ...['upgrade', '--to', to, '--yes', '--no-snapshot'],
        )
        const { code, output } = await command.ended
        // A run with fewer events than the chosen number ends by itself.
        expect([0, 137], output).toContain(code)
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
    } finally {
      await cluster.close()
      await lab.down()
    }
  },
)
