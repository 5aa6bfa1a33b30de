import { expect, test } from 'vitest'
import { readCluster } from '../../spec/read-cluster.ts'
import { runHyperkube } from '../testing/run-in-memory.ts'
import { renderExampleFile } from './example-file.ts'

const read = (text: string) => readCluster({ file: 'cluster.yml', text })

test('init --defaults writes a valid example without prompts', async () => {
  const { code, files } = await runHyperkube('init --defaults --name shop', {}, { replies: [] })
  expect(code).toBe(0)
  const { cluster, findings } = read(files.get('cluster.yml') ?? '')
  expect(findings).toEqual([])
  expect(cluster?.metadata.name).toBe('shop')
  expect(cluster?.spec.hosts).toMatchObject([{ local: true, roles: ['control-plane', 'worker'] }])
})

test('the commented settings of the example are the defaults', () => {
  const [before = '', after = ''] = renderExampleFile('shop', '1.37.1').split(
    '  # Defaults of common settings',
  )
  const shown = after.replaceAll(/^ {2}# /gm, '  ').replace(/^.*\n/, '')
  expect(shown).toMatch(/^ {2}network:\n/)
  expect(read(before + shown)).toEqual(read(before))
})

test('the commented hosts of the example are valid', () => {
  const remote = renderExampleFile('shop', '1.37.1')
    .replace(/ {4}- name: cp1\n(?: {6}.*\n)+/, '')
    .replaceAll(/^ {4}# (- | {2})/gm, '    $1')
  const { cluster, findings } = read(remote)
  expect(findings).toEqual([])
  expect(cluster?.spec.hosts.map(({ name }) => name)).toEqual(['cp1', 'w1'])
})

test('an invalid cluster name in the example is reported, and a numeric name stays text', () => {
  for (const name of ['a: b', 'x\ny', '#'])
    expect(read(renderExampleFile(name, '1.37.1')).findings).toHaveLength(1)
  expect(read(renderExampleFile('123', '1.37.1')).cluster?.metadata.name).toBe('123')
})
