import { join } from 'node:path'
import { expect, test } from 'vitest'
import { z } from 'zod'
import { run } from '../kit/command.ts'

const measured = z.object({
  hosts: z.number(),
  planAndRollout: z.number(),
  diff: z.number(),
  megabytes: z.number(),
})

/** The better of two, because a noisy machine only ever adds. */
async function atSize(hosts: number): Promise<z.infer<typeof measured>> {
  const script = join(import.meta.dirname, 'at-size.ts')
  const turns = []
  for (let turn = 0; turn < 2; turn++) {
    const { stdout } = await run([process.execPath, script, String(hosts)])
    turns.push(measured.parse(JSON.parse(stdout)))
  }
  const [best] = turns.toSorted((a, b) => a.planAndRollout - b.planAndRollout)
  if (best === undefined) throw new Error('nothing was measured')
  return best
}

test('5,000 hosts are planned in two seconds and half a gigabyte, and ten times the hosts take ten times as long', async () => {
  const [few, many] = [await atSize(500), await atSize(5000)]
  for (const { hosts, planAndRollout, diff, megabytes } of [few, many]) {
    process.stderr.write(
      `${hosts} hosts: plan and rollout ${planAndRollout.toFixed(0)} ms, diff ${diff.toFixed(0)} ms, ${megabytes.toFixed(0)} MB\n`,
    )
  }
  expect(many.planAndRollout).toBeLessThan(2000)
  expect(many.megabytes).toBeLessThan(512)
  // Ten times, and some for the turns in which the machine was busy; with the square it would be a hundred.
  expect(many.planAndRollout / few.planAndRollout).toBeLessThan(25)
})
