import { cp, mkdir, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import packageFile from '../package.json' with { type: 'json' }
import { runProgram } from '../src/kit/command.ts'
import {
  apiReport,
  buildExports,
  emitDeclarations,
  renderApiReport,
  sdkEntries,
  stagePackage,
} from './sdk.ts'

const root = join(import.meta.dirname, '..')
let directory: string
let declarations: ReadonlyMap<string, string>
/** An empty project into which the packed package was installed. */
let project: string

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'sdk-'))
  declarations = await emitDeclarations()
  const staged = join(directory, 'staged')
  await stagePackage(staged, declarations)
  const packed = await runProgram(['npm', 'pack', '--silent', '--pack-destination', directory], {
    cwd: staged,
  })
  project = join(directory, 'project')
  await mkdir(project)
  await writeFile(join(project, 'package.json'), '{ "type": "module" }')
  const archive = join(directory, packed.stdout.trim())
  // Dependencies come from npm's cache, which `npm ci` of the repository has filled.
  await runProgram(
    ['npm', 'install', '--prefer-offline', '--no-audit', '--no-fund', '--ignore-scripts', archive],
    {
      cwd: project,
    },
  )
}, 120_000)
afterAll(async () => rm(directory, { recursive: true, force: true }))

test('src/sdk/api-report.txt contains the types of the package', async () => {
  // After a review of the change: npm run sdk -- --report
  expect(renderApiReport(declarations)).toBe(await readFile(apiReport, 'utf8'))
})

test('package.json exports the entry points', () => {
  expect(packageFile.exports).toEqual(buildExports())
})

test('the installed package can be imported in Node, by its entry points only', async () => {
  const names = Object.keys(sdkEntries).map((entry) => entry.replace(/^\./, 'hyperkube'))
  const script = `
    const found = await Promise.all(${JSON.stringify(names)}.map(async (name) => Object.keys(await import(name))))
    const inner = await import('hyperkube/dist/sdk/kube.js').catch(({ code }) => code)
    const { readClusterText } = await import('hyperkube')
    const { findings } = await readClusterText('kind: Cluster')
    console.log(JSON.stringify({ found, inner, codes: findings.map(({ code }) => code) }))`
  const { stdout } = await runProgram([process.execPath, '--input-type=module', '-e', script], {
    cwd: project,
  })
  const { found, inner, codes } = JSON.parse(stdout)
  expect(found.map((all: readonly string[]) => all.length > 3 || all.includes('openCluster'))).toEqual([
    true,
    true,
    true,
    true,
  ])
  expect(inner).toBe('ERR_PACKAGE_PATH_NOT_EXPORTED')
  expect(codes).toContain('SPEC_MISSING')
})

test('examples and documentation compile against the installed package, with strict and all declaration files', async () => {
  await cp(join(root, 'examples/sdk'), project, {
    recursive: true,
    filter: (path) => !/\.(?:test\.ts|md)$/.test(path),
  })
  const page = await readFile(join(root, 'docs/how-to/sdk.md'), 'utf8')
  const codeBlocks = [...page.matchAll(/^```ts\n([\s\S]*?)^```$/gm)]
  expect(codeBlocks).toHaveLength(Object.keys(sdkEntries).length)
  for (const [index, [, code = '']] of codeBlocks.entries())
    await writeFile(join(project, `how-to-${index}.ts`), code)
  await mkdir(join(project, 'node_modules/@types'), { recursive: true })
  await symlink(join(root, 'node_modules/@types/node'), join(project, 'node_modules/@types/node'))
  const compilerOptions = {
    target: 'es2024',
    lib: ['es2024', 'esnext.disposable'],
    types: ['node'],
    module: 'nodenext',
    strict: true,
    exactOptionalPropertyTypes: true,
    noUncheckedIndexedAccess: true,
    skipLibCheck: false,
    noEmit: true,
  }
  await writeFile(join(project, 'tsconfig.json'), JSON.stringify({ compilerOptions, include: ['*.ts'] }))
  const tsc = join(root, 'node_modules/typescript/bin/tsc')
  const result = await runProgram([process.execPath, tsc, '-p', project], { allowFailure: true })
  expect(result.stdout).toBe('')
})
