import { expect, test } from 'vitest'
import { readCluster } from '../../spec/read-cluster.ts'
import { runHyperkube } from '../testing/run-in-memory.ts'
import { renderExampleFile } from './example-file.ts'

const read = (text: string) => readCluster({ file: 'cluster.yml', text })

test('the example is written without a question, and is valid', async () => {
  const { code, files } = await runHyperkube('init --defaults --name shop', {}, { replies: [] })
  expect(code).toBe(0)
  const { cluster, findings } = read(files.get('cluster.yml') ?? '')
  expect(findings).toEqual([])
  expect(cluster?.metadata.name).toBe('shop')
  expect(cluster?.spec.hosts).toMatchObject([{ local: true, roles: ['control-plane', 'worker'] }])
})

test('what it shows as defaults are the defaults', () => {
  const [before = '', after = ''] = renderExampleFile('shop', '1.37.1').split(
    '  # Defaults of common settings',
  )
  const shown = after.replaceAll(/^ {2}# /gm, '  ').replace(/^.*\n/, '')
  expect(shown).toMatch(/^ {2}network:\n/)
  expect(read(before + shown)).toEqual(read(before))
})

test('the commented hosts are valid too', () => {
  const remote = renderExampleFile('shop', '1.37.1')
    .replace(/ {4}- name: cp1\n(?: {6}.*\n)+/, '')
    .replaceAll(/^ {4}# (- | {2})/gm, '    $1')
  const { cluster, findings } = read(remote)
  expect(findings).toEqual([])
  expect(cluster?.spec.hosts.map(({ name }) => name)).toEqual(['cp1', 'w1'])
})

test('a name that is none is found, whatever YAML makes of it', () => {
  for (const name of ['a: b', 'x\ny', '#'])
    expect(read(renderExampleFile(name, '1.37.1')).findings).toHaveLength(1)
  expect(read(renderExampleFile('123', '1.37.1')).cluster?.metadata.name).toBe('123')
})
