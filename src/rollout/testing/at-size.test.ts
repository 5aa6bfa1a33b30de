import { join } from 'node:path'
import { expect, test } from 'vitest'
import { z } from 'zod'
import { runProgram } from '../../kit/command.ts'

const measured = z.object({
  hosts: z.number(),
  planAndRollout: z.number(),
  diff: z.number(),
  reference: z.number(),
  megabytes: z.number(),
})

const limits = { milliseconds: 2000, megabytes: 512 }

/** Two seconds, or on a slow machine the same multiple of a fixed amount of work. */
function timeLimit({ reference }: z.infer<typeof measured>): number {
  return Math.max(limits.milliseconds, 10 * reference)
}

async function atSize(hosts: number): Promise<z.infer<typeof measured>> {
  const script = join(import.meta.dirname, 'at-size.ts')
  const { stdout } = await runProgram([process.execPath, script, String(hosts)])
  return measured.parse(JSON.parse(stdout))
}

/** Measures 5,000 hosts. A slow measurement is repeated, because other load on the machine only adds time. */
async function atFullSize(tries = 3): Promise<z.infer<typeof measured>> {
  const found = await atSize(5000)
  const isGood = found.planAndRollout < timeLimit(found) && found.megabytes < limits.megabytes
  return isGood || tries === 1 ? found : atFullSize(tries - 1)
}

test('planning 5,000 hosts takes under 2 s, or 10 times the reference work, and 512 MB, and grows linearly with the hosts', async () => {
  const [few, many] = [await atSize(500), await atFullSize()]
  for (const { hosts, planAndRollout, diff, reference, megabytes } of [few, many]) {
    process.stderr.write(
      `${hosts} hosts: plan and rollout ${planAndRollout.toFixed(0)} ms, diff ${diff.toFixed(0)} ms, reference ${reference.toFixed(0)} ms, ${megabytes.toFixed(0)} MB\n`,
    )
  }
  expect(many.planAndRollout).toBeLessThan(timeLimit(many))
  expect(many.megabytes).toBeLessThan(limits.megabytes)
  // The expected factor is 10; 25 leaves a margin for a busy machine. Quadratic growth would give 100.
  expect(many.planAndRollout / few.planAndRollout).toBeLessThan(25)
})
