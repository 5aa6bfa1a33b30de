import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { formatPartId, parts, selectParts } from './parts.ts'
import { listGoBuildCommands, moduleDirectory } from './recipe.ts'

test('each part has a unique id and pinned Go modules', () => {
  expect(new Set(parts.map(formatPartId)).size).toBe(parts.length)
  for (const part of parts.filter(({ language }) => language !== 'go-module')) {
    for (const file of ['go.mod', 'go.sum']) {
      expect(existsSync(join(moduleDirectory(part), file)), `${formatPartId(part)} ${file}`).toBe(true)
    }
  }
})

test('parts are selected by name, version, operating system, or all at once', () => {
  const ids = (names: string[]): string[] => selectParts(names).map(formatPartId)
  expect(ids(['etcd'])).toEqual(['etcd@v3.7.3', 'etcd@v3.6.16', 'etcd@v3.5.35'])
  expect(ids(['kubernetes@v1.36.4'])).toEqual(['kubernetes@v1.36.4'])
  expect(ids(['windows'])).toContain('kubernetes-windows@v1.36.4')
  expect(ids(['windows']).filter((id) => !id.includes('-windows@'))).toEqual([])
  expect(ids(['all'])).toHaveLength(parts.length)
  expect(ids([])).not.toContain('kwok@v0.8.0')
  expect(() => selectParts(['etcd', 'nothing'])).toThrow('there is no part nothing')
})

test('programs named by Go are built in one command, others one by one', () => {
  const etcd = selectParts(['etcd@v3.7.3'])[0]
  expect(etcd && listGoBuildCommands(etcd, 'out').map((argv) => argv.slice(-2))).toEqual([
    ['out/etcd', 'go.etcd.io/etcd/server/v3'],
    ['out/etcdctl', 'go.etcd.io/etcd/etcdctl/v3'],
    ['out/etcdutl', 'go.etcd.io/etcd/etcdutl/v3'],
  ])
  const kubernetes = selectParts(['kubernetes@v1.37.1'])[0]
  expect(kubernetes && listGoBuildCommands(kubernetes, 'out')).toHaveLength(1)
})
