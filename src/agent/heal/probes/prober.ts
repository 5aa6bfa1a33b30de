import { setTimeout as sleep } from 'node:timers/promises'
import type { Probe } from '../../../contract/probe.ts'
import { formatError } from '../../../kit/errors.ts'
import { formatDuration } from '../../../kit/time-format.ts'
import { createClockProbe } from './clock.ts'
import { createDiskLatencyProbe, createDiskSpaceProbe } from './disk.ts'
import { CachedFiles, createCertificateProbe, createFileProbe } from './files.ts'
import { GrpcConnections } from './grpc-connections.ts'
import { createCriProbe, createGrpcProbe } from './grpc.ts'
import { createHttpProbe, ProbeHttpClient } from './http.ts'
import { HangDetector } from './hang-detector.ts'
import { NodeReader } from './node-reader.ts'
import { createHnsNetworkProbe, createInterfaceProbe, createOverlayProbe } from './overlay.ts'
import { createNodeLeaseProbe, createPeersProbe } from './nodes.ts'
import { createPolicyAccessProbe, createPolicyRulesProbe, LocalPodReader } from './policy-rules.ts'
import { ProbeApi } from './probe-api.ts'
import type { ProbeDeps } from './probe-deps.ts'
import {
  type CheckKind,
  type ChecksByKind,
  failedResult,
  healthyResult,
  type ProbeResult,
  type ProbeRunner,
  type ProbeTarget,
  type RunProbe,
  unknownResult,
} from './probe-runner.ts'
import { createSandboxProbe } from './sandbox.ts'
import { createServiceRulesProbe, ServiceReader } from './service-rules.ts'

/** Probes for which a general failure code has a more specific meaning. */
const specificCodes: readonly (readonly [
  component: string,
  probe: string,
  of: readonly string[],
  code: string,
])[] = [
  ['etcd', 'readyz', ['HEALTH_CHECK_FAILED'], 'ETCD_NO_QUORUM'],
  ['kube-apiserver', 'readyz', ['HEALTH_CHECK_FAILED'], 'API_NOT_READY'],
  ['apiserver-proxy', 'api', ['HEALTH_CHECK_FAILED', 'HEALTH_NO_RESPONSE'], 'API_UNREACHABLE'],
  [
    'hyperkube-keepalived',
    'virtual-ip',
    ['HEALTH_CHECK_FAILED', 'HEALTH_NO_RESPONSE'],
    'VIRTUAL_IP_UNREACHABLE',
  ],
]

/** Replaces a general failure code with the specific one of this probe, if there is one. */
function refineCode(component: string, probe: string, result: ProbeResult): ProbeResult {
  if (result.state !== 'unhealthy' || result.code === undefined) return result
  const { code } = result
  const match = specificCodes.find(
    ([ofComponent, ofProbe, codes]) => ofComponent === component && ofProbe === probe && codes.includes(code),
  )
  return match === undefined ? result : { ...result, code: match[3] }
}

/**
 * Maximum number of milliseconds for which `suspend` waits for running probes. A probe of a broken disk may
 * never end.
 */
const maxCleanupMs = 25_000

/** Runs probes of all kinds and keeps their connections open. */
export interface Prober extends Disposable {
  readonly run: RunProbe
  /**
   * Does work while no probe runs. Running probes are aborted, and the work begins after they have cleaned
   * up. A reset needs this: otherwise a probe of the pod network would create files that the reset has
   * already removed.
   */
  suspend<T>(work: () => Promise<T>): Promise<T>
}

type ProbeRunners = { readonly [K in CheckKind]: ProbeRunner<K> }

export function createProber(deps: ProbeDeps): Prober {
  const { clock, monotonic, disks } = deps
  const open = new DisposableStack()
  const [web, grpc, api] = [
    open.use(new ProbeHttpClient()),
    open.use(new GrpcConnections()),
    open.use(new ProbeApi(deps.files)),
  ]
  const files = new CachedFiles(deps.files)
  const nodes = new NodeReader(api, monotonic)
  const hangDetector = new HangDetector(deps)
  const runners: ProbeRunners = {
    service: createServiceProbe(deps),
    http: createHttpProbe(web, files),
    grpc: createGrpcProbe(grpc),
    cri: createCriProbe(grpc),
    interface: createInterfaceProbe(deps),
    overlay: createOverlayProbe(deps, nodes),
    'service-rules': createServiceRulesProbe(deps, new ServiceReader(api, monotonic)),
    'policy-rules': createPolicyRulesProbe(deps, new LocalPodReader(api, monotonic)),
    'policy-access': createPolicyAccessProbe(api),
    sandbox: createSandboxProbe(deps),
    'hns-network': createHnsNetworkProbe(deps),
    file: createFileProbe(deps),
    'node-lease': createNodeLeaseProbe(api, clock),
    'peer-nodes': createPeersProbe(nodes),
    'disk-latency': createDiskLatencyProbe(disks),
    'disk-space': createDiskSpaceProbe(disks),
    certificate: createCertificateProbe(files, clock),
    clock: createClockProbe(web, files, clock),
  }
  const running = new Set<Promise<unknown>>()
  let suspensions = 0
  let stop = new AbortController()
  return {
    async suspend(work) {
      suspensions++
      stop.abort()
      stop = new AbortController()
      try {
        await Promise.race([Promise.allSettled(running), sleep(maxCleanupMs, undefined, { ref: false })])
        return await work()
      } finally {
        suspensions--
      }
    },
    async run(probe, component, signal) {
      signal.throwIfAborted()
      if (suspensions > 0) return unknownResult('probes are suspended')
      const result = await runWithTimeout(runners, { probe, component }, [signal, stop.signal], running)
      signal.throwIfAborted()
      return refineCode(component.name, probe.name, await confirmHang(hangDetector, probe, component, result))
    },
    [Symbol.dispose]: () => open.dispose(),
  }
}

/** Confirms that a component hangs, if its own probe timed out and its process shows a second sign. */
async function confirmHang(
  detector: HangDetector,
  { scope }: Probe,
  component: ProbeTarget['component'],
  result: ProbeResult,
): Promise<ProbeResult> {
  if (scope !== 'local' || result.state !== 'unhealthy' || result.code !== 'HEALTH_NO_RESPONSE') return result
  const sign = await detector.findSign(component).catch(() => undefined)
  return sign === undefined ? result : { ...result, message: `${result.message}; ${sign}`, isConfirmed: true }
}

/** Runs a probe. Returns a result at the timeout even if the check ignores its signal. */
async function runWithTimeout(
  runners: ProbeRunners,
  target: ProbeTarget,
  signals: readonly AbortSignal[],
  running: Set<Promise<unknown>>,
): Promise<ProbeResult> {
  const { probe } = target
  const limit = AbortSignal.timeout(probe.timeoutMs)
  const either = AbortSignal.any([...signals, limit])
  const timedOut = Promise.withResolvers<ProbeResult>()
  either.addEventListener('abort', () => timedOut.resolve(toTimeoutResult(probe)), { once: true })
  const result = runOne(runners, probe.check.kind, probe.check, target, either).catch((error: unknown) =>
    either.aborted ? toTimeoutResult(probe) : unknownResult(formatError(error)),
  )
  // A check that timed out may still be cleaning up. It stays in `running` until it has ended, so that
  // `suspend` waits for it.
  running.add(result)
  result.finally(() => running.delete(result)).catch(() => undefined)
  return Promise.race([result, timedOut.promise])
}

async function runOne<K extends CheckKind>(
  runners: ProbeRunners,
  kind: K,
  check: ChecksByKind[K],
  target: ProbeTarget,
  signal: AbortSignal,
): Promise<ProbeResult> {
  return runners[kind](check, signal, target)
}

/**
 * Returns the result for a probe that timed out. The probe fails only if its kind is in `timeoutCodes`. For
 * other kinds the result is `unknown`, because the timeout does not prove that the component is unhealthy.
 */
function toTimeoutResult({ check: { kind }, timeoutMs }: Probe): ProbeResult {
  const code = timeoutCodes.get(kind)
  const result = `no answer within ${formatDuration(timeoutMs)}`
  return code === undefined ? unknownResult(result) : failedResult(code, result)
}

const timeoutCodes: ReadonlyMap<CheckKind, string> = new Map([
  ['http', 'HEALTH_NO_RESPONSE'],
  ['grpc', 'HEALTH_NO_RESPONSE'],
  ['cri', 'HEALTH_NO_RESPONSE'],
  ['sandbox', 'SANDBOX_NOT_JOINED'],
  ['disk-latency', 'DISK_SLOW'],
])

/** Checks whether the supervisor reports the service as active. */
function createServiceProbe({ services }: Pick<ProbeDeps, 'services'>): ProbeRunner<'service'> {
  return async (_check, _signal, { component: { service } }) => {
    if (service === undefined) return unknownResult('the component has no service')
    const { active, sub } = await services.show(service.name)
    return active === 'active'
      ? healthyResult
      : failedResult('HEALTH_NOT_RUNNING', `${service.name} is ${active} (${sub})`)
  }
}
