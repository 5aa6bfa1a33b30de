import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { pollUntil } from '../../kit/poll.ts'
import { createLocalFiles } from '../environment/local-files.ts'
import {
  runHyperkube,
  createInMemoryContext,
  type CliResult,
  type InMemoryOptions,
} from '../testing/run-in-memory.ts'
import { runCommandLine } from '../run-command-line.ts'

const testdata = join(import.meta.dirname, '../../conformance/testdata')
const cluster = `apiVersion: hyperkube.dev/v1
kind: Cluster
metadata: { name: shop }
spec:
  kubernetes: 1.37.1
  hosts:
    - { name: cp1, address: 127.0.0.1, roles: [control-plane] }
`

let root: string
let options: InMemoryOptions
let flags: string

beforeEach(async () => {
  root = await mkdtemp(join(tmpdir(), 'conformance-'))
  options = { files: createLocalFiles(), configDirectory: root }
  flags = `-f ${join(root, 'cluster.yml')} --program ${join(root, 'e2e.test')} --kubectl /bin/true --report ${join(root, 'report')}`
  await writeFile(join(root, 'cluster.yml'), cluster)
  await runHyperkube(`init -f ${join(root, 'cluster.yml')}`, {}, options)
})
afterEach(async () => rm(root, { recursive: true }))

/** Writes a fake suite that runs `script` and records its arguments and environment. */
async function writeSuite(script: string): Promise<void> {
  const text = `#!/bin/sh
for word; do case $word in
  --version) echo v1.37.1; exit;;
  --ginkgo.json-report=*) cp ${testdata}/suite.json "\${word#*=}"; exit;;
  --kubeconfig=*) cp "\${word#*=}" ${root}/given; stat -c %a "\${word#*=}" > ${root}/mode; echo "\${word#*=}" > ${root}/path;;
esac; done
echo "$@" > ${root}/arguments; env > ${root}/environment
${script}
`
  await writeFile(join(root, 'e2e.test'), text, { mode: 0o755 })
}

async function runConformance(words = ''): Promise<CliResult> {
  return runHyperkube(`conformance ${flags}${words}`, {}, options)
}

const text = async (name: string): Promise<string> => readFile(join(root, name), 'utf8')

const passed = `
echo ------------------------------
echo '[sig-network] DNS should provide DNS for the cluster [Conformance] [sig-network, Conformance]'
echo '• [4.123 seconds]'
echo ------------------------------
echo
echo 'SUCCESS! -- 1 Passed | 0 Failed | 0 Pending | 3205 Skipped'`

describe('hyperkube conformance', () => {
  test('--list prints the selected tests and runs none', async () => {
    await writeSuite('exit 1')
    const { code, stdout, stderr } = await runConformance(' --list --without-image nginx')
    expect(code).toBe(0)
    expect(stdout.split('\n')).toHaveLength(6)
    expect(stdout).not.toContain('Garbage collector')
    expect(stderr).toBe('5 tests, 1 excluded\n')
    expect(await readdir(root)).not.toContain('report')
    const json = JSON.parse((await runConformance(' --list -o json')).stdout)
    expect(json).toMatchObject({ kind: 'ConformanceTestList', leftOut: [] })
  })

  test('exits with 0 if all tests passed, and writes log and report', async () => {
    await writeFile(
      join(root, 'only'),
      '# one\n[sig-network] DNS should provide DNS for the cluster [Conformance]\n',
    )
    await writeSuite(passed)
    const { code, stdout, stderr } = await runConformance(` --only ${join(root, 'only')}`)
    expect([code, stdout]).toEqual([0, expect.stringContaining('passed: 1 of 1 test passed, in ')])
    expect(stderr).toContain('00:00 1/1 passed [sig-network] DNS should provide DNS for the cluster')
    expect(await readdir(join(root, 'report'))).toEqual(['e2e.log', 'report.json'])
    expect(await text('report/e2e.log')).toContain('SUCCESS!')
    expect(JSON.parse(await text('report/report.json'))).toMatchObject({
      kind: 'ConformanceReport',
      outcome: 'passed',
    })
  })

  test('gives the suite a kubeconfig that only its owner can read, and removes it', async () => {
    await writeSuite(passed)
    await runConformance(' --focus DNS')
    expect(await text('mode')).toBe('600\n')
    expect(await text('given')).toMatch(/server: https:\/\/127\.0\.0\.1:\d+\n/)
    const [key = ''] = /client-key-data: (\S+)/.exec(await text('given')) ?? []
    expect(key).not.toBe('')
    expect(await text('arguments')).not.toContain(key)
    expect(await text('environment')).not.toContain(key)
    await expect(readFile((await text('path')).trim())).rejects.toMatchObject({ code: 'ENOENT' })
  })

  test('uses the API server of --server', async () => {
    await writeSuite(passed)
    await runConformance(' --server https://api.example:6443')
    expect(await text('given')).toContain('server: https://api.example:6443\n')
  })

  test('exits with 1 if a test failed, and prints the reason', async () => {
    await writeSuite(`cat ${testdata}/run.txt; exit 1`)
    const { code, stdout } = await runConformance()
    expect(code).toBe(1)
    expect(stdout.replaceAll(root, '').replace(/, in .*/, '')).toMatchInlineSnapshot(`
      "failed [sig-node] ConfigMap should be consumable as environment variable names with various prefixes [Conformance] (5.0 s)
        expected "data-1=value-1" in container output: Expected
            <string>: KUBERNETES_SERVICE_PORT=443
            KUBERNETES_PORT=tcp://10.96.0.1:443
            HOSTNAME=pod-configmaps-6834c09c-99d7-4dde-940b-c5d1860a382a
        …
      interrupted [sig-storage] Projected secret optional updates should be reflected in volume [Conformance] [NodeConformance] (32.0 s)
        Interrupted by User
      excluded: 3 tests, the run ended early
      failed: 1 of 3 tests passed against Kubernetes v1.37.1
      log:    /report/e2e.log
      junit:  /report/junit_01.xml
      report: /report/report.json
      "
    `)
    const again = await runConformance()
    expect([again.code, again.stderr]).toEqual([1, expect.stringContaining('CONFORMANCE_REPORT_EXISTS')])
  })

  test('exits with 1 if no test could run', async () => {
    await writeSuite(`cat ${testdata}/no-cluster.txt; exit 1`)
    const { code, stdout } = await runConformance()
    expect([code, stdout]).toEqual([1, expect.stringContaining('problem SynchronizedBeforeSuite failed')])
  })

  test('an interrupt stops the suite and its child processes, and the partial result is printed', async () => {
    await writeSuite(`trap 'echo stopping; exit 1' INT
sleep 600 & echo $! > ${root}/child
${passed.replace(/echo\necho 'SUCCESS.*/, '')}
while :; do wait; done`)
    const interruption = new AbortController()
    const { context, collectResult } = createInMemoryContext({}, { ...options, signal: interruption.signal })
    const running = runCommandLine('hyperkube', `conformance ${flags}`.split(' '), context)
    await pollUntil('the first test', async () => collectResult(0).stderr.includes('1/6 passed'), {
      timeoutMs: 20_000,
      intervalMs: 5,
    })
    interruption.abort()
    const { code, stdout, stderr } = collectResult(await running)
    expect(code).toBe(130)
    expect(stderr).toContain('stopping: e2e.test deletes its objects')
    expect(stdout).toContain('interrupted: 1 of 1 test passed')
    expect(stdout).toContain('excluded: 5 tests, the run ended early')
    expect(await text('report/e2e.log')).toContain('stopping\n')
    const child = Number(await text('child'))
    await pollUntil('the child process to end', async () => !isRunning(child), {
      timeoutMs: 5000,
      intervalMs: 5,
    })
  })

  test.each([
    ['--without-image httpd', 2, 'expected one of nginx'],
    ['--only /nowhere', 1, 'CONFORMANCE_NAMES_NOT_READ'],
    ['--server ftp://x', 2, 'https://HOST:PORT'],
  ])('%s is refused', async (words, code, output) => {
    await writeSuite('exit 1')
    expect(await runConformance(` ${words}`)).toMatchObject({ code, stderr: expect.stringContaining(output) })
  })

  test('a program that is not a conformance suite is refused', async () => {
    await writeFile(join(root, 'e2e.test'), '#!/bin/sh\nexit 3\n', { mode: 0o755 })
    expect((await runConformance()).stderr).toContain('CONFORMANCE_NOT_LISTED')
  })
})

function isRunning(pid: number): boolean {
  try {
    return process.kill(pid, 0)
  } catch {
    return false
  }
}
