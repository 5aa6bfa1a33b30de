import { mkdir, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { expect, test } from 'vitest'
import { readLock } from '../../catalog/lock.ts'
import { fakeRegistries } from '../../catalog/registry/testing/fake-registry.ts'
import { fakeFetcher } from '../../catalog/testing/fake-fetcher.ts'
import { fakeImages, fakeUpstream } from '../../catalog/testing/fake-upstream.ts'
import { buildCacheName, findLocalArtifact } from '../environment/locked-program.ts'
import { createTemporaryDirectory } from '../environment/temporary-directory.ts'
import { type CliResult, runHyperkube } from '../testing/run-in-memory.ts'

const cluster = `apiVersion: hyperkube.dev/v1
kind: Cluster
metadata: { name: shop }
spec:
  kubernetes: 1.37.1
  dns: none
  metrics: none
  ingress: none
  storage: none
  addons: [{ name: web, chart: { path: web, version: 2.0.0, namespace: web } }]
  hosts: [{ name: cp1, address: 10.0.0.1, roles: [control-plane] }]
`

const helm = `#!/bin/sh
PATH=/usr/bin:/bin
[ "$1" = show ] && exec cat "$3/Chart.yaml"
cat "$3/templates/all.yaml"
`

const manifests = `apiVersion: v1
kind: Secret
metadata: { name: login }
data: { password: aHVzaA== }
---
apiVersion: v1
kind: ConfigMap
metadata: { name: web }
data: { word: a }
`

test('lock pins the chart and Helm, and addon show prints the objects of exactly that chart', async () => {
  await using directory = await createTemporaryDirectory()
  const path = (name: string): string => join(directory.path, name)
  const write = async (name: string, text: string): Promise<void> => {
    await mkdir(dirname(path(name)), { recursive: true })
    await writeFile(path(name), text, { mode: 0o755 })
  }
  const sites = fakeUpstream('1.37.1')
  const run = async (words: string, files: Readonly<Record<string, string>>): Promise<CliResult> =>
    runHyperkube(`${words} -f ${path('cluster.yml')}`, files, {
      fetcher: fakeFetcher((url) => sites.get(url)),
      web: fakeRegistries(fakeImages()),
      cacheDirectory: path('cache'),
    })
  await write('web/Chart.yaml', 'apiVersion: v2\nname: web\nversion: 2.0.0\n')
  await write('web/templates/all.yaml', manifests)

  const locked = await run('lock --arch amd64 --arch arm64', { [path('cluster.yml')]: cluster })
  expect(locked.code, locked.stderr).toBe(0)
  expect(locked.stdout).toContain('+ helm linux/amd64: 4.3.1 (published)\n')
  expect(locked.stdout).toContain('+ chart web: 2.0.0\n')
  const files = Object.fromEntries(locked.files)
  const lock = readLock('cluster.lock', files[path('cluster.lock')] ?? '')
  await write(`cache/hyperkube/programs/${buildCacheName(findLocalArtifact(lock, 'helm'))}`, helm)

  const shown = await run('addon show web', files)
  expect(shown.code, shown.stderr).toBe(0)
  expect(shown.stdout.match(/^kind: .*/gm)).toEqual(['kind: Namespace', 'kind: Secret', 'kind: ConfigMap'])
  expect(shown.stdout.match(/namespace: web/g)).toHaveLength(2)
  expect(shown.stdout).not.toContain('aHVzaA==')

  await write('web/templates/all.yaml', manifests.replace('word: a', 'word: b'))
  expect((await run('addon show web', files)).stderr).toMatch(
    /^CHART_CHANGED: addon web: web does not match its digest in cluster.lock\n  → review the chart; to accept it: hyperkube --file \S+ lock$/m,
  )
  const changed = await run('lock --arch amd64 --arch arm64 --check', files)
  expect(changed.code).toBe(3)
  expect(changed.stdout).toMatch(/^~ chart web: 2\.0\.0 sha256:[0-9a-f]{64} → 2\.0\.0 sha256:[0-9a-f]{64}\n$/)
})
