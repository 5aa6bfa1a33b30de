import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { factsFormat } from '../../../contract/facts.ts'
import { collectFacts } from './collect.ts'
import { labHost } from '../testing/lab-host.ts'
import { createFakeFactSource } from '../testing/fake-fact-source.ts'

const golden = join(import.meta.dirname, '../../../contract/testdata/facts-lab-host.v1.json')

test('the facts of a lab host match the golden file', async () => {
  const recorded = factsFormat.newest.schema.parse(JSON.parse(readFileSync(golden, 'utf8')))
  expect(await collectFacts(createFakeFactSource(labHost), 'h1')).toEqual({
    ...recorded,
    system: { ...recorded.system, clock: Date.parse('2026-11-15T12:00:00Z') / 1000 },
  })
})

test('a command that several facts need runs once', async () => {
  const commands: string[] = []
  const source = createFakeFactSource(labHost)
  const run: typeof source.run = async (argv) => {
    commands.push(argv.slice(0, 2).join(' '))
    return source.run(argv)
  }
  await collectFacts({ ...source, run }, 'h1')
  expect(commands.toSorted()).toEqual(['ip -o', 'iptables -w', 'systemctl is-active', 'unshare --net'])
})

test('a missing file and an unsupported architecture are reported', async () => {
  const { '/proc/meminfo': _, ...files } = labHost.files ?? {}
  await expect(collectFacts(createFakeFactSource({ ...labHost, files }), 'h1')).rejects.toMatchObject({
    code: 'FACTS_NOT_TAKEN',
    message: 'cannot read /proc/meminfo',
  })
  await expect(
    collectFacts(createFakeFactSource({ ...labHost, arch: 'riscv64' }), 'h1'),
  ).rejects.toMatchObject({
    code: 'FACTS_NOT_TAKEN',
    message: 'hyperkube does not support the CPU architecture riscv64',
  })
})
