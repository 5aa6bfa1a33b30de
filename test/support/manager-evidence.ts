import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { z } from 'zod'

const file = join(import.meta.dirname, '../../docs/evidence/manager.md')
const row = z.object({ what: z.string(), came: z.string() })

/** What was tried, from the first to the last. */
const order = [
  'a leader that is killed',
  'a leader that is stopped, and waking later as if nothing had happened',
  'a leader that is cut off from the API',
  'a leader whose clock jumps by two hours, both ways',
  'rights, asked of the API',
  'requests for certificates of kubelets',
  'a thousand rogue requests of kubelets',
  'an agent that says nothing',
  'API servers restarted one after the other',
  'a cluster that is well',
  'a node whose kubelet is too old',
  'certificates that should have been renewed',
  'what was deleted comes back',
  'something of an addon is gone',
  'something of an addon is gone or changed, with addon-mender on',
  'space that etcd does not use',
]

/** Puts one row of the table in its place: rows of runs before stay, so that one can be run again alone. */
export async function noteManager(what: string, came: string): Promise<void> {
  const rows = new Map((await former()).map((one) => [one.what, one.came]))
  rows.set(what, `${came} (${new Date().toISOString().slice(0, 10)})`)
  const known = order.flatMap((one) => (rows.has(one) ? [`| ${one} | ${rows.get(one)} |`] : []))
  await writeFile(
    file,
    `# Controllers on a cluster

Written by \`npm run e2e:full\` (\`manager.test.ts\` and \`controllers.test.ts\` in test/full): Kubernetes 1.37.1, three control planes and two
workers of the lab. A snapshot of etcd falls due every minute, all the while: which of them were asked of hosts, in whose
name, and what came of it is seen in the objects of the hosts, four times a second.

| what | what came of it |
|---|---|
${known.join('\n')}
`,
  )
  process.stderr.write(`${what}: ${came}\n`)
}

async function former(): Promise<z.infer<typeof row>[]> {
  const text = await readFile(file, 'utf8').catch(() => '')
  return [...text.matchAll(/^\| (?<what>[^|]+) \| (?<came>[^|]+) \|$/gm)].flatMap(({ groups }) => {
    const read = row.safeParse(groups)
    return read.success ? [read.data] : []
  })
}
