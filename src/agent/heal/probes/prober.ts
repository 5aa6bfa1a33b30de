import { describe } from '../../../kit/errors.ts'
import { duration } from '../../../kit/duration.ts'
import type { Probe } from '../../../contract/probe.ts'
import type { AskProbe, Seen } from '../probe-result.ts'
import { ProbeApi } from './probe-api.ts'
import { type About, type Ask, type CheckKind, type Checks, failed, unknown } from './probe-runner.ts'
import { askCertificate } from './certificate.ts'
import { askClock } from './clock.ts'
import { askCri } from './cri.ts'
import { askDiskLatency } from './disk-latency.ts'
import { askDiskSpace } from './disk-space.ts'
import type { ProbeEdges } from './probe-deps.ts'
import { askFile } from './file.ts'
import { FreshFiles } from './cached-files.ts'
import { askGrpc } from './grpc.ts'
import { GrpcLines } from './grpc-connections.ts'
import { askHnsNetwork } from './hns-network.ts'
import { askHttp } from './http.ts'
import { askInterface } from './interface.ts'
import { meaningOf } from './meaning.ts'
import { askNeighbours } from './peer-nodes.ts'
import { askNodeLease } from './node-lease.ts'
import { Nodes } from './node-reader.ts'
import { askOverlay } from './overlay.ts'
import { askSandbox } from './sandbox.ts'
import { askService } from './service.ts'
import { askServiceRules } from './service-rules.ts'
import { Services } from './service-reader.ts'
import { Web } from './http-client.ts'

/** Asks all kinds of questions, and keeps open what would cost most to open each time. */
export interface Prober extends Disposable {
  readonly ask: AskProbe
}

type Asks = { readonly [K in CheckKind]: Ask<K> }

export function prober(edges: ProbeEdges): Prober {
  const { clock, monotonic, disks } = edges
  const open = new DisposableStack()
  const [web, lines, api] = [
    open.use(new Web()),
    open.use(new GrpcLines()),
    open.use(new ProbeApi(edges.files)),
  ]
  const files = new FreshFiles(edges.files)
  const nodes = new Nodes(api, monotonic)
  const asks: Asks = {
    service: askService(edges),
    http: askHttp(web, files),
    grpc: askGrpc(lines),
    cri: askCri(lines),
    interface: askInterface(edges),
    overlay: askOverlay(edges, nodes),
    'service-rules': askServiceRules(edges, new Services(api, monotonic)),
    sandbox: askSandbox(edges),
    'hns-network': askHnsNetwork(edges),
    file: askFile(edges),
    'node-lease': askNodeLease(api, clock),
    neighbours: askNeighbours(nodes),
    'disk-latency': askDiskLatency(disks),
    'disk-space': askDiskSpace(disks),
    certificate: askCertificate(files, clock),
    clock: askClock(web, files, clock),
  }
  return {
    async ask(probe, component, signal) {
      signal.throwIfAborted()
      const seen = await inTime(asks, { probe, component }, signal)
      signal.throwIfAborted()
      return meaningOf(component.name, probe.name, seen)
    },
    [Symbol.dispose]: () => open.dispose(),
  }
}

/** Whoever is asked does not have to know how to hear a signal: at its time there is an answer. */
async function inTime(asks: Asks, about: About, signal: AbortSignal): Promise<Seen> {
  const { probe } = about
  const limit = AbortSignal.timeout(probe.timeout)
  const either = AbortSignal.any([signal, limit])
  const over = Promise.withResolvers<Seen>()
  either.addEventListener('abort', () => over.resolve(silence(probe)), { once: true })
  const answer = askOne(asks, probe.check.kind, probe.check, about, either).catch((error: unknown) =>
    either.aborted ? silence(probe) : unknown(describe(error)),
  )
  return Promise.race([answer, over.promise])
}

async function askOne<K extends CheckKind>(
  asks: Asks,
  kind: K,
  check: Checks[K],
  about: About,
  signal: AbortSignal,
): Promise<Seen> {
  return asks[kind](check, signal, about)
}

/** What it means that there was no answer in time. Where somebody else was asked about the component, nothing. */
function silence({ check: { kind }, timeout }: Probe): Seen {
  const code = telling.get(kind)
  const seen = `no answer within ${duration(timeout)}`
  return code === undefined ? unknown(seen) : failed(code, seen)
}

const telling: ReadonlyMap<CheckKind, string> = new Map([
  ['http', 'HEALTH_NO_ANSWER'],
  ['grpc', 'HEALTH_NO_ANSWER'],
  ['cri', 'HEALTH_NO_ANSWER'],
  ['sandbox', 'SANDBOX_NOT_JOINED'],
  ['disk-latency', 'DISK_SLOW'],
])
