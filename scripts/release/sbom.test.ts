import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { build } from 'esbuild'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { bundleProgram } from '../executable.ts'
import { bundleInterface } from '../ui-bundle.ts'
import { renderCycloneDx, renderSpdx, type SbomContent } from './sbom.ts'
import {
  findLicenseProblems,
  listInstalledPackages,
  listShippedPackages,
  type ShippedPackage,
} from './shipped-packages.ts'

const source = { version: '1.2.3', commit: 'c0ffee', epoch: 1_700_000_000, isTagged: true }
let directory = ''
let packages: readonly ShippedPackage[] = []
beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'hyperkube-sbom-'))
  packages = await listShippedPackages(
    await bundleProgram(join(directory, 'bundle.cjs'), { entry: 'src/main.ts', node: 24 }),
  )
})
afterAll(async () => rm(directory, { recursive: true }))

test('the packages are those whose source is in the bundle', async () => {
  // Without minification, a comment names the file of each module.
  const { outputFiles } = await build({
    entryPoints: [join(import.meta.dirname, '../../src/main.ts')],
    bundle: true,
    write: false,
    platform: 'node',
    format: 'cjs',
    external: ['*.node', 'cpu-features'],
    logLevel: 'error',
  })
  const text = outputFiles[0]?.text ?? ''
  const named = [...text.matchAll(/^ *\/\/ .*node_modules\/((?:@[^/\n]+\/)?[^/\n]+)\/.*$/gm)].map(
    ([, name = '']) => name,
  )
  expect(packages.map(({ name }) => name)).toEqual([...new Set(named)].toSorted())
})

test('the packages of the web interface are listed and have an accepted licence', async () => {
  const shipped = await listShippedPackages(await bundleInterface(join(directory, 'ui')))
  expect(shipped.map(({ name }) => name)).toEqual(['@preact/signals', '@preact/signals-core', 'preact'])
  expect(findLicenseProblems(shipped)).toEqual([])
})

test('every shipped package has an accepted licence', () => {
  expect(findLicenseProblems(packages)).toEqual([])
  const [first] = packages
  expect(findLicenseProblems(first === undefined ? [] : [{ ...first, license: 'GPL-3.0' }])).toHaveLength(1)
})

test('every package that npm installs with ours has an accepted licence', async () => {
  const installed = await listInstalledPackages()
  expect(installed.map(({ name }) => name)).toEqual(expect.arrayContaining(['zod', 'asn1js']))
  expect(findLicenseProblems(installed)).toEqual([])
})

test('both documents list all packages, Node, all libraries, and are reproducible', () => {
  const versions = { node: '24.0.0', openssl: '3.5.0', modules: '137' }
  const content: SbomContent = {
    source,
    packages,
    runtimes: [{ version: '24.0.0', libraries: versions }],
    libraries: [{ name: 'libc6', version: '2.36', purl: 'pkg:deb/debian/libc6@2.36' }],
  }
  const expected = [
    ...packages.map(({ name, version }) => `${name} ${version}`),
    'node 24.0.0',
    'node-openssl 3.5.0',
    'libc6 2.36',
  ]
  const cycloneDx: unknown = JSON.parse(renderCycloneDx(content))
  expect(cycloneDx).toMatchObject({
    specVersion: '1.6',
    serialNumber: expect.stringMatching(
      /^urn:uuid:[0-9a-f]{8}-[0-9a-f]{4}-8[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/,
    ),
    components: expected.map((text) => {
      const [name, version] = text.split(' ')
      return { name, version }
    }),
  })
  const spdx: unknown = JSON.parse(renderSpdx(content))
  expect(spdx).toMatchObject({
    packages: ['hyperkube 1.2.3', ...expected].map((text) => {
      const [name, versionInfo] = text.split(' ')
      return { name, versionInfo }
    }),
  })
  expect(renderCycloneDx(content)).toBe(renderCycloneDx(content))
})
