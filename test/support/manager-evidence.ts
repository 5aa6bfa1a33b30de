import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { z } from 'zod'

const file = join(import.meta.dirname, '../../docs/evidence/manager.md')
const row = z.object({ what: z.string(), result: z.string() })

/** Titles of the rows of the evidence table, in the order of the table. */
const rowOrder = [
  'a leader that is killed',
  'a leader that is stopped, and resumed later',
  'a leader that is cut off from the API',
  'a leader whose clock jumps by two hours, both ways',
  'permissions, as the API reports them',
  'requests for certificates of kubelets',
  'a thousand rogue requests of kubelets',
  'an agent that sends no heartbeat',
  'API servers restarted one after the other',
  'a healthy cluster',
  'a node whose kubelet is too old',
  'certificates that should have been renewed',
  'deleted objects are restored',
  'an object of an addon is deleted',
  'an object of an addon is deleted or changed, with addon-reconciler on',
  'space that etcd does not use',
]

/** Replaces one row of the evidence table. Other rows stay, so a test can run alone. */
export async function recordManagerEvidence(what: string, result: string): Promise<void> {
  const rows = new Map((await readPreviousRows()).map((one) => [one.what, one.result]))
  rows.set(what, `${result} (${new Date().toISOString().slice(0, 10)})`)
  const lines = rowOrder.flatMap((one) => (rows.has(one) ? [`| ${one} | ${rows.get(one)} |`] : []))
  await writeFile(
    file,
    `# Controllers on a cluster

Written by \`npm run e2e:full\` (\`manager.test.ts\` and \`controllers.test.ts\` in test/full): Kubernetes 1.37.1, three control planes and two
workers of the lab. A snapshot of etcd is due every minute: the requests to hosts, their fences and
their results are read from the Host objects, four times a second.

| test | result |
|---|---|
${lines.join('\n')}
`,
  )
  process.stderr.write(`${what}: ${result}\n`)
}

async function readPreviousRows(): Promise<z.infer<typeof row>[]> {
  const text = await readFile(file, 'utf8').catch(() => '')
  return [...text.matchAll(/^\| (?<what>[^|]+) \| (?<result>[^|]+) \|$/gm)].flatMap(({ groups }) => {
    const read = row.safeParse(groups)
    return read.success ? [read.data] : []
  })
}
