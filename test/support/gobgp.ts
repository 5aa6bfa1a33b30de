import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { cacheDirectory } from '../../lab/cache.ts'
import { buildComponents } from '../../lab/components/build.ts'
import { selectParts } from '../../lab/components/parts.ts'
import { silentReport } from '../../lab/report.ts'
import { runProgram } from '../../src/kit/command.ts'
import { pollUntil } from '../../src/kit/poll.ts'

export interface RouterOptions {
  /** Address on which the router listens for BGP sessions. */
  readonly address: string
  readonly asn: number
  readonly neighbors: readonly { readonly address: string; readonly asn: number }[]
}

/** A BGP router that only learns routes. */
export interface Router extends AsyncDisposable {
  /** Next hops of each learned address, sorted. */
  routes(): Promise<ReadonlyMap<string, readonly string[]>>
}

const apiPort = 50_179

/** Starts GoBGP on the machine that runs the lab. It does not change the routes of the machine. */
export async function startRouter(options: RouterOptions): Promise<Router> {
  const [built] = await buildComponents(selectParts(['gobgp']), {
    cache: cacheDirectory(),
    report: silentReport,
  })
  const directory = await mkdtemp(join(tmpdir(), 'gobgp-'))
  const file = join(directory, 'gobgp.toml')
  await writeFile(file, renderConfiguration(options))
  const api = ['--api-hosts', `127.0.0.1:${apiPort}`, '--pprof-disable', '--metrics-path', '']
  const router = spawn(join(built?.directory ?? '', 'gobgpd'), ['-f', file, ...api], { stdio: 'ignore' })
  const ended = once(router, 'exit')
  const program = join(built?.directory ?? '', 'gobgp')
  const query = async (...words: readonly string[]): Promise<string> =>
    (await runProgram([program, '-p', String(apiPort), ...words])).stdout
  await pollUntil('GoBGP to listen', async () => (await query('global')) !== '', { timeoutMs: 20_000 })
  return {
    routes: async () => parseRoutes(await query('global', 'rib', '-a', 'ipv4')),
    async [Symbol.asyncDispose]() {
      router.kill('SIGKILL')
      await ended
      await rm(directory, { recursive: true, force: true })
    },
  }
}

function renderConfiguration({ address, asn, neighbors }: RouterOptions): string {
  const sessions = neighbors.map(
    (neighbor) => `[[neighbors]]
  [neighbors.config]
    neighbor-address = "${neighbor.address}"
    peer-as = ${neighbor.asn}
  [neighbors.transport.config]
    passive-mode = true
`,
  )
  return `[global.config]
  as = ${asn}
  router-id = "${address}"
  local-address-list = ["${address}"]
${sessions.join('')}`
}

function parseRoutes(text: string): ReadonlyMap<string, readonly string[]> {
  const routes = [...text.matchAll(/^\*\S*\s+(\S+)\/32\s+(\S+)/gm)].map(([, address = '', via = '']) => ({
    address,
    via,
  }))
  return new Map(
    [...Map.groupBy(routes, ({ address }) => address)].map(([address, all]) => [
      address,
      all.map(({ via }) => via).toSorted(),
    ]),
  )
}
