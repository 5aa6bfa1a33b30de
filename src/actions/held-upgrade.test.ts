import { assert, constantFrom, property, record } from 'fast-check'
import { expect, test } from 'vitest'
import { formatLock, readLock } from '../catalog/lock.ts'
import { buildTestLock } from '../plan/testing/fixtures.ts'
import type { Cluster } from '../spec/cluster.ts'
import type { WorkspaceContext } from '../workspace/context.ts'
import { readCheckedCluster } from '../workspace/load-cluster.ts'
import { editHold, prepareRollback, refuseDuringHold } from './held-upgrade.ts'
import { shippedCatalog } from '../catalog/shipped-catalog.ts'

const noFiles = { readFile: async () => Promise.reject(new Error('no file')) }
const since = '2026-11-17T20:00:00.000Z'

function writeFileText(more = ''): string {
  return `apiVersion: hyperkube.dev/v1
kind: Cluster
metadata: { name: shop }
spec:
  kubernetes: "1.36.4" # the version
${more}  hosts:
    - { name: cp1, address: 192.0.2.1, roles: [control-plane] }
`
}

async function parse(text: string): Promise<Cluster> {
  const { cluster, findings } = await readCheckedCluster(
    noFiles,
    { file: 'cluster.yml', text },
    shippedCatalog,
  )
  if (cluster === undefined) throw new Error(findings.map(({ code, message }) => `${code} ${message}`).join())
  return cluster
}

async function listCodes(text: string): Promise<string[]> {
  const { findings } = await readCheckedCluster(noFiles, { file: 'cluster.yml', text }, shippedCatalog)
  return findings.filter(({ severity }) => severity === 'error').map(({ code }) => code)
}

/**
 * Creates the files of a cluster, and a context that can access only these files. A rollback must not need
 * the network.
 */
function openFiles(text: string) {
  const files = new Map([
    ['cluster.yml', text],
    ['cluster.lock', formatLock(buildTestLock('1.36.4', '1.37.1'))],
  ])
  const context: Pick<WorkspaceContext, 'readFile' | 'replaceFile'> = {
    async readFile(file) {
      const content = files.get(file)
      if (content === undefined) throw Object.assign(new Error(`${file} does not exist`), { code: 'ENOENT' })
      return content
    },
    replaceFile: async (file, content) => void files.set(file, content),
  }
  return { files, deps: { context, files: { file: 'cluster.yml' }, report: () => undefined } }
}

test('a rollback restores both files without the network', async () => {
  const held = editHold(writeFileText(), { to: '1.37.1', since })
  const { files, deps } = openFiles(held)
  const { persist } = await prepareRollback(deps, await parse(held))
  expect(files.get('cluster.yml')).toBe(held)
  await persist()
  expect(files.get('cluster.yml')).toBe(writeFileText())
  expect(readLock('cluster.lock', files.get('cluster.lock') ?? '')).toEqual(buildTestLock('1.36.4'))
})

test('a hold that ends leaves the rest of cluster.yml as it was', () => {
  const layouts = record({
    comment: constantFrom('', '# about the cluster\n', '\n\n'),
    more: constantFrom(
      '',
      '  api: { port: 6443 }\n',
      '  # before hosts\n',
      '  rollout:\n    maxUnavailable: 1\n',
    ),
    tail: constantFrom('', '  # the end\n', '  storage: none\n'),
  })
  assert(
    property(layouts, ({ comment, more, tail }) => {
      const text = `${comment}${writeFileText(more)}${tail}`
      const held = editHold(text, { to: '1.37.1', since })
      expect(held).toContain('heldUpgrade: { to: "1.37.1"')
      expect(editHold(held, undefined)).toBe(text)
    }),
  )
})

test('without a held upgrade there is nothing to roll back', async () => {
  const { deps } = openFiles(writeFileText())
  const cluster = await parse(writeFileText())
  await expect(prepareRollback(deps, cluster)).rejects.toMatchObject({ code: 'UPGRADE_NOT_HELD' })
})

test('a held upgrade refuses another one, with the two commands', async () => {
  const cluster = await parse(editHold(writeFileText(), { to: '1.37.1', since }))
  expect(() => refuseDuringHold(cluster)).toThrow(
    expect.objectContaining({
      code: 'UPGRADE_HELD',
      hint: expect.stringMatching(/upgrade confirm.*upgrade rollback/),
    }),
  )
})

test('cluster.yml is checked against the held version', async () => {
  const hold = (more: string) => editHold(writeFileText(more), { to: '1.37.1', since })
  expect(await listCodes(hold(''))).toEqual([])
  expect(await listCodes(hold('').replace('"1.36.4"', '"1.37.1"'))).toEqual(['UPGRADE_HOLD_UNSUPPORTED'])
  expect(await listCodes(hold('  artifacts: { bundle: shop.tar }\n'))).toEqual(['UPGRADE_HOLD_BUNDLE'])
  const withFlag = '  components: { scheduler: { args: { emulated-version: "1.36" } } }\n'
  expect(await listCodes(hold(withFlag))).toEqual(['UPGRADE_HOLD_FLAG'])
})
