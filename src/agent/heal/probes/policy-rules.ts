import { isIP } from 'node:net'
import { z } from 'zod'
import { hasCode } from '../../../kit/errors.ts'
import { truncateList } from '../../../kit/text.ts'
import { type ProbeApi, RateLimitedCache } from './probe-api.ts'
import type { ProbeDeps } from './probe-deps.ts'
import { failedResult, healthyResult, type ProbeRunner } from './probe-runner.ts'

/** Maximum number of pods without rules that are verified with a new request and reported. */
const sampleSize = 3

/** Milliseconds that kube-router may take to write the rules of a new pod. */
const settleMs = 60_000

/** Chains of iptables from which kube-router filters packets, each with the chain that has its rules. */
const hooks: Readonly<Record<string, string>> = {
  INPUT: 'KUBE-ROUTER-INPUT',
  FORWARD: 'KUBE-ROUTER-FORWARD',
  OUTPUT: 'KUBE-ROUTER-OUTPUT',
}

/**
 * Checks whether packets of pods pass the rules of kube-router: from the chains of the kernel, and for each
 * pod of this node. kube-router itself reports only that it is running.
 */
export function createPolicyRulesProbe(
  { command, clock }: Pick<ProbeDeps, 'command' | 'clock'>,
  pods: LocalPodReader,
): ProbeRunner<'policy-rules'> {
  return async ({ node, kubeconfig, ipv6 = false }, signal) => {
    const rules = new Set<string>()
    for (const program of ['iptables-save', ...(ipv6 ? ['ip6tables-save'] : [])]) {
      const { stdout } = await command([program, '-t', 'filter'], { signal })
      const missingHooks = findMissingHooks(stdout)
      const family = program === 'iptables-save' ? '' : ' of IPv6'
      if (missingHooks.length > 0)
        return failedResult('POLICY_RULES', `kube-router does not filter ${missingHooks.join(', ')}${family}`)
      for (const address of listFilteredAddresses(stdout)) rules.add(address)
    }
    const isMissing = (pod: LocalPod): boolean =>
      clock.now().getTime() - pod.started > settleMs &&
      pod.addresses.some((address) => (ipv6 || isIP(address) === 4) && !rules.has(address))
    const missing = (await pods.list(kubeconfig, node, signal)).filter(isMissing).slice(0, sampleSize)
    if (missing.length === 0) return healthyResult
    // The cached list may contain pods that were deleted, so the current list decides.
    const current = new Set((await pods.fetch(kubeconfig, node, signal)).filter(isMissing).map(formatPod))
    const confirmed = missing.map(formatPod).filter((pod) => current.has(pod))
    if (confirmed.length === 0) return healthyResult
    return failedResult('POLICY_RULES', `kube-router has no rules for ${truncateList(confirmed, sampleSize)}`)
  }
}

/** Finds the chains of the kernel from which no rule leads to kube-router. */
export function findMissingHooks(saved: string): readonly string[] {
  return Object.entries(hooks)
    .filter(([chain, own]) => !new RegExp(`^-A ${chain} .*-j ${own}$`, 'm').test(saved))
    .map(([chain]) => chain)
}

/** Lists the addresses of pods whose incoming packets pass a chain of their own. */
export function listFilteredAddresses(saved: string): ReadonlySet<string> {
  const rules = saved.matchAll(
    /^-A KUBE-ROUTER-FORWARD -d ([\da-f.:]+)(?:\/(?:32|128))? .*-j KUBE-POD-FW-\w+$/gm,
  )
  return new Set([...rules].map(([, address = '']) => address))
}

/** A running pod of this node that has an address of its own. */
interface LocalPod {
  readonly namespace: string
  readonly name: string
  readonly addresses: readonly string[]
  /** Time at which the kubelet accepted the pod, in milliseconds since 1970. */
  readonly started: number
}

function formatPod({ namespace, name, addresses }: LocalPod): string {
  return `${namespace}/${name} (${addresses.join(', ')})`
}

/** Schema of a pod. It keeps only the needed fields, because all pods of the node are cached. */
const podList = z.object({
  items: z
    .array(
      z.object({
        metadata: z.object({ name: z.string(), namespace: z.string() }),
        spec: z.object({ hostNetwork: z.boolean().default(false) }),
        status: z.object({
          phase: z.string().default(''),
          podIPs: z.array(z.object({ ip: z.string() })).default([]),
          startTime: z.string().optional(),
        }),
      }),
    )
    .nullish(),
})

/** Reads the pods of this node, with the credentials of kube-router. */
export class LocalPodReader {
  readonly #api: ProbeApi
  readonly #pods: RateLimitedCache<readonly LocalPod[]>

  /** `monotonic` returns milliseconds of a monotonic clock. */
  constructor(api: ProbeApi, monotonic: () => number) {
    this.#api = api
    this.#pods = new RateLimitedCache(monotonic)
  }

  /** Lists the pods from a cache, which is at least one minute old before it is read again. */
  async list(kubeconfig: string, node: string, signal: AbortSignal): Promise<readonly LocalPod[]> {
    return this.#pods.get(
      `${kubeconfig} ${node}`,
      async () => this.#read(kubeconfig, node, { resourceVersion: '0' }, signal),
      parsePods,
    )
  }

  /** Reads the current pods. */
  async fetch(kubeconfig: string, node: string, signal: AbortSignal): Promise<readonly LocalPod[]> {
    return parsePods(await this.#read(kubeconfig, node, {}, signal))
  }

  async #read(
    kubeconfig: string,
    node: string,
    query: Readonly<Record<string, string>>,
    signal: AbortSignal,
  ): Promise<string> {
    const fieldSelector = `spec.nodeName=${node}`
    return this.#api.text({ kubeconfig, path: '/api/v1/pods', query: { ...query, fieldSelector } }, signal)
  }
}

function parsePods(text: string): readonly LocalPod[] {
  return (podList.parse(JSON.parse(text)).items ?? []).flatMap(({ metadata, spec, status }) => {
    const { podIPs, startTime, phase } = status
    // Rules for pods that are pending or have ended are optional.
    if (spec.hostNetwork || phase !== 'Running' || podIPs.length === 0 || startTime === undefined) return []
    return [{ ...metadata, addresses: podIPs.map(({ ip }) => ip), started: Date.parse(startTime) }]
  })
}

/** Checks whether kube-router may read policies. Without this permission it keeps the rules that it wrote before. */
export function createPolicyAccessProbe(api: ProbeApi): ProbeRunner<'policy-access'> {
  return async ({ kubeconfig }, signal) => {
    try {
      for (const path of readPaths) await api.text({ kubeconfig, path, query: { limit: '1' } }, signal)
      return healthyResult
    } catch (error) {
      if (!hasCode(error, 'KUBE_FORBIDDEN')) throw error
      return failedResult('POLICY_ACCESS', error instanceof Error ? error.message : String(error))
    }
  }
}

/** Lists without which kube-router cannot write rules. */
const readPaths = ['/apis/networking.k8s.io/v1/networkpolicies', '/api/v1/pods', '/api/v1/namespaces']
