import { beforeAll, expect, test } from 'vitest'
import { z } from 'zod'
import { formatLock } from '../../catalog/lock.ts'
import { buildTestLock } from '../../plan/testing/fixtures.ts'
import { runHyperkube } from '../testing/run-in-memory.ts'
import { buildClusterFile } from '../testing/cluster-file.ts'

const clusterFile = buildClusterFile(
  '{ name: cp1, address: 127.0.0.1, roles: [control-plane, worker], ssh: { port: 1 } }',
)
let files: Readonly<Record<string, string>>

beforeAll(async () => {
  const made = await runHyperkube('init', { 'cluster.yml': clusterFile })
  files = { ...Object.fromEntries(made.files), 'cluster.lock': formatLock(buildTestLock('1.37.1')) }
})

test.each(['reset --yes', 'reset --yes --force-unlock', 'reset --dry-run'])(
  '%s is refused if no host is reachable, and prints no removal',
  async (commandLine) => {
    const { code, stdout, stderr } = await runHyperkube(`${commandLine} --progress plain`, files)
    expect(code).toBe(1)
    expect(stderr).toContain('error RESET_NO_HOST: no host to reset is reachable: cp1')
    expect(stderr).not.toContain('is removed')
    expect(stderr).toContain(
      `hyperkube ${commandLine.replace(' --yes', '').replace(' --force-unlock', '')}\n`,
    )
    expect(stdout).toBe('')
  },
)

test('a missing cluster.lock and missing manifests do not prevent a reset', async () => {
  const { 'cluster.lock': _, ...others } = files
  const addons = `${clusterFile}  addons: [{ name: web, files: [missing.yml] }]\n`
  const { stderr } = await runHyperkube('reset --yes --progress plain', { ...others, 'cluster.yml': addons })
  expect(stderr).toContain('error RESET_NO_HOST')
})

test('the connect step fails if no host is reachable', async () => {
  const { stderr } = await runHyperkube('reset --yes --progress json', files)
  const bodies: unknown[] = stderr
    .split('\n')
    .filter((line) => line.startsWith('{'))
    .map((line) => z.object({ body: z.unknown() }).parse(JSON.parse(line)).body)
  expect(bodies).toContainEqual(
    expect.objectContaining({
      type: 'step-ended',
      step: 'reach',
      result: expect.objectContaining({ outcome: 'failed' }),
    }),
  )
})
