import { readdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect } from 'vitest'
import { z } from 'zod'
import { pollUntil } from '../../src/kit/poll.ts'
import { testChartVersion, writeTestChart } from './test-chart.ts'
import type { UpCluster } from './up-cluster.ts'

const password = 'correct-horse-battery'
const withData = z.object({ data: z.record(z.string(), z.string()) })

/** Expects that a Helm chart can be installed, changed, restored after drift, and removed. */
export async function expectChartManaged(cluster: UpCluster): Promise<void> {
  const { api, operator, directory } = cluster
  const outputs: string[] = []
  const run = async (code: number, ...args: readonly string[]): Promise<string> => {
    const { stdout, stderr } = await operator.must(code, ...args)
    outputs.push(stdout, stderr)
    return stdout + stderr
  }
  const setChart = async (settings: object): Promise<void> =>
    operator.edit((document) => {
      const secretValues = { 'database.password': { secret: 'shop-database' } }
      const common = { path: 'shop-chart', version: testChartVersion, namespace: 'charts', secretValues }
      document.setIn(['spec', 'addons'], [{ name: 'shop', chart: { ...common, ...settings } }])
    })
  const readWord = async (): Promise<string | undefined> => {
    const path = '/api/v1/namespaces/charts/configmaps/shop-settings'
    return withData.parse(await api.get<unknown>(path)).data['word']
  }
  await writeTestChart(join(directory, 'shop-chart'))
  await writeFile(join(directory, 'password'), password, { mode: 0o600 })
  await operator.must(0, 'secret', 'set', 'shop-database', '--from-file', join(directory, 'password'))
  await writeFile(join(directory, 'password'), '')

  await setChart({ values: { random: true } })
  await run(0, 'lock')
  const refused = await run(1, 'plan')
  expect(refused).toContain('error CHART_HOOKS')
  expect(refused).toContain('Job shop-migrate (pre-install,pre-upgrade)')
  expect(refused).toContain('CHART_NOT_REPRODUCIBLE')
  expect(refused).toContain('other content for ConfigMap shop-settings')

  await setChart({ hooks: 'ignore', values: { word: 'a' } })
  expect(await run(0, 'up', '--yes')).toContain('+ shop: 5 objects new')
  expect(await readWord()).toBe('a')
  const secret = withData.parse(await api.get<unknown>('/api/v1/namespaces/charts/secrets/shop-database'))
  expect(Buffer.from(secret.data['password'] ?? '', 'base64').toString()).toBe(password)
  await api.get('/apis/shop.example/v1/namespaces/charts/gadgets/shop')
  expect(await run(0, 'addon', 'list')).toMatch(/shop\s+ready\s+1\.2\.3\s+Helm chart/)

  await setChart({ hooks: 'ignore', values: { word: 'b' } })
  await api.remove('/api/v1/namespaces/charts/secrets/shop-database')
  const shown = await run(3, 'addon', 'diff', 'shop')
  expect(shown).toContain('data.word: "a" → "b"')
  expect(shown).toContain('+ Secret charts/shop-database')
  await run(0, 'up', '--yes')
  expect(await readWord()).toBe('b')
  await api.get('/api/v1/namespaces/charts/secrets/shop-database')

  await operator.edit((document) => document.deleteIn(['spec', 'addons']))
  await run(0, 'up', '--yes')
  await pollUntil(
    'the namespace of the chart to be gone',
    async () =>
      api.text('/api/v1/namespaces/charts').then(
        () => false,
        () => true,
      ),
    { timeoutMs: 60_000 },
  )
  await expect(api.text('/apis/shop.example/v1/gadgets')).rejects.toThrow('404')
  await run(0, 'lock')
  expect([...outputs, ...(await readTexts(directory))].filter((text) => text.includes(password))).toEqual([])
}

/** Reads the files of the operator, such as the lock, plans and logs. */
async function readTexts(directory: string): Promise<string[]> {
  const entries = await readdir(directory, { recursive: true, withFileTypes: true })
  const files = entries.filter((entry) => entry.isFile() && !entry.parentPath.includes('programs'))
  return Promise.all(files.map(async ({ parentPath, name }) => readFile(join(parentPath, name), 'utf8')))
}
