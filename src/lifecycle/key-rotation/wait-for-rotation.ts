import type { Finding } from '../../contract/finding.ts'
import type { EtcdClient } from '../../etcd/client.ts'
import type { Identity, ReplacementPhase } from '../../identity/identity.ts'
import type { KeyName } from '../../identity/replace-key.ts'
import { secretFiles } from '../../identity/secret-files.ts'
import { HyperkubeError } from '../../kit/errors.ts'
import { truncateList } from '../../kit/text.ts'
import type { KubeClient } from '../../kube/client.ts'
import { waitUntilDistrusted, waitUntilTrusted } from './pod-trust.ts'
import type { RotationWaitOptions } from './poll.ts'
import { type PublishedCa, unpublishCa, waitUntilPublished } from './published-cas.ts'
import { encryptedKinds, findEncryptedWith, rewriteObjects, waitForEncryptionLoaded } from './encryption.ts'
import {
  type CredentialsChange,
  findStaleWorkloads,
  formatWorkloadName,
  restartWorkloads,
  volumeRefreshMs,
  type Workload,
} from './stale-pods.ts'
import { findTokenSecrets, tokenLifetimeMs } from './token-secrets.ts'

/** A cluster in which all hosts have reached a phase of the rotation, and options for the next step. */
export interface RotationContext extends RotationWaitOptions {
  readonly identity: Identity
  readonly api: KubeClient
  readonly etcd: Pick<EtcdClient, 'read'>
  /** True if pods of user workloads may be restarted. Workloads of addons are always restarted. */
  readonly restartPods: boolean
  /** True if API servers accept tokens of pods for a year instead of an hour. */
  readonly extendsTokens: boolean
  /** Called with the number of rewritten objects so far. */
  readonly progress: (written: number) => void
}

/** Runs a rotation step. Returns findings that make the next phase unsafe. */
type RunRotationStep = (cluster: RotationContext) => Promise<readonly Finding[]>

export interface RotationStep {
  readonly title: string
  readonly run: RunRotationStep
}

/**
 * Returns the step that must be done in the cluster before a key leaves a phase; undefined if the phase needs
 * no step.
 */
export function findRotationStep(key: KeyName, phase: ReplacementPhase): RotationStep | undefined {
  return rotationSteps.get(`${key} ${phase}`)
}

const rotationSteps: ReadonlyMap<string, RotationStep> = new Map<
  `${KeyName} ${ReplacementPhase}`,
  RotationStep
>([
  ['kubernetes trust', { title: 'all pods trust the new CA', run: waitForPodTrust }],
  ['kubernetes distrust', buildForgetStep('kubernetes')],
  ['front-proxy trust', { title: 'the API publishes the new CA', run: waitForProxyTrust }],
  ['front-proxy distrust', buildForgetStep('front-proxy')],
  ['service-account switch', { title: 'no tokens of the previous key are left', run: checkTokens }],
  ['encryption trust', { title: 'all API servers have loaded the new key', run: waitForEncryption }],
  [
    'encryption switch',
    { title: 'all Secrets and ConfigMaps are encrypted with the new key', run: rewriteEncrypted },
  ],
  [
    'encryption distrust',
    { title: 'all API servers work without the previous key', run: confirmPreviousGone },
  ],
])

/**
 * Waits until pods trust the new CA. Programs read trusted CAs only when they start, so pods that started
 * earlier are restarted or reported.
 */
async function waitForPodTrust(cluster: RotationContext): Promise<readonly Finding[]> {
  const { identity, api } = cluster
  const { replacement } = identity.cas.kubernetes
  if (replacement?.phase !== 'trust') return []
  await waitUntilPublished(api, 'kubernetes', replacement.next.certificate, cluster)
  const times = await waitUntilTrusted(api, replacement.next.certificate, cluster)
  return restartStalePods(cluster, {
    since: (namespace) => times.get(namespace) ?? 0,
    refreshMs: volumeRefreshMs,
    code: 'KEYS_PODS_TRUST_PREVIOUS',
    text: 'these pods started before they could receive the new CA',
    hint: `${restartHint}; or run the same command again with --restart-pods`,
  })
}

const restartHint = 'restart them with kubectl rollout restart, then run the same command again'

/** Hint for pods that kubectl rollout restart cannot restart, such as those of a Job. */
const manualHint =
  'no Deployment, DaemonSet or StatefulSet restarts them: create them again, or wait until they end; then run the same command again'

/** A change of the credentials of pods, and how to report pods with the previous ones. */
interface StalePods extends CredentialsChange {
  readonly code: string
  readonly text: string
  readonly hint: string
}

/** Restarts the pods with previous credentials that may be restarted, and reports the others. */
async function restartStalePods(
  cluster: RotationContext,
  { code, text, hint, ...change }: StalePods,
): Promise<readonly Finding[]> {
  const { api, restartPods } = cluster
  const stale = await findStaleWorkloads(api, change, cluster)
  const mayRestart = ({ kind, builtIn }: Workload): boolean => kind !== 'other' && (builtIn || restartPods)
  await restartWorkloads(api, stale.filter(mayRestart), change, cluster)
  const others = stale.filter((workload) => !mayRestart(workload))
  if (others.length === 0) return []
  const message = `${text}: ${truncateList(others.map(formatWorkloadName), 6)}`
  const isManual = others.every(({ kind }) => kind === 'other')
  return [{ code, severity: 'error', message, hint: isManual ? manualHint : hint }]
}

async function waitForProxyTrust(cluster: RotationContext): Promise<readonly Finding[]> {
  const { replacement } = cluster.identity.cas.frontProxy
  if (replacement?.phase === 'trust')
    await waitUntilPublished(cluster.api, 'front-proxy', replacement.next.certificate, cluster)
  return []
}

function buildForgetStep(ca: PublishedCa): RotationStep {
  return {
    title: 'the API no longer publishes the previous CA',
    async run(cluster) {
      const { identity, api, signal } = cluster
      const slot = ca === 'kubernetes' ? 'kubernetes' : 'frontProxy'
      const { replacement } = identity.cas[slot]
      if (replacement?.phase !== 'distrust') return []
      await unpublishCa(api, ca, replacement.previous, signal)
      if (ca === 'kubernetes') await waitUntilDistrusted(api, replacement.previous, cluster)
      return []
    },
  }
}

async function checkTokens(cluster: RotationContext): Promise<readonly Finding[]> {
  const { identity, api, extendsTokens, now, signal } = cluster
  const { replacement } = identity.serviceAccount
  if (replacement?.phase !== 'switch') return []
  const unusedSince = Date.parse(replacement.since ?? now().toISOString())
  const expiry = unusedSince + tokenLifetimeMs
  const secretNames = await findTokenSecrets(api, replacement.previous, signal)
  const buildTokenFinding = (message: string, hint: string): Finding => ({
    code: 'KEYS_TOKENS_ALIVE',
    severity: 'error',
    message,
    hint,
  })
  return [
    // Programs that read their token only at start may use it for a year, so time alone is not enough.
    ...(extendsTokens
      ? await restartStalePods(cluster, {
          since: () => unusedSince,
          refreshMs: tokenLifetimeMs,
          code: 'KEYS_TOKENS_ALIVE',
          text: 'these pods may use tokens of the previous key for a year, because cluster.yml extends tokens',
          hint: restartHint,
        })
      : []),
    ...(now().getTime() >= expiry
      ? []
      : [
          buildTokenFinding(
            `pods may have tokens of the previous key until ${new Date(expiry).toISOString()}`,
            'run the same command again after that time to remove the previous key',
          ),
        ]),
    ...(secretNames.length === 0
      ? []
      : [
          buildTokenFinding(
            `Secrets hold tokens of the previous key, which never expire: ${truncateList(secretNames, 6)}`,
            'delete these Secrets, create those that you need again, then run the same command again',
          ),
        ]),
  ]
}

async function waitForEncryption(cluster: RotationContext): Promise<readonly Finding[]> {
  const configuration = secretFiles(cluster.identity).get('encryption-configuration')
  if (configuration !== undefined) await waitForEncryptionLoaded(cluster.api, configuration, cluster)
  return []
}

async function rewriteEncrypted(cluster: RotationContext): Promise<readonly Finding[]> {
  await waitForEncryption(cluster)
  await rewriteObjects(cluster.api, encryptedKinds, cluster)
  await requireNothingLeft(cluster)
  return []
}

async function confirmPreviousGone(cluster: RotationContext): Promise<readonly Finding[]> {
  await waitForEncryption(cluster)
  await requireNothingLeft(cluster)
  return []
}

/**
 * Throws if etcd still contains objects that are encrypted with the previous key. Reads etcd directly,
 * because the API does not show the key.
 */
async function requireNothingLeft({ identity, etcd, signal }: RotationContext): Promise<void> {
  const replacement = identity.encryption?.replacement
  if (replacement === undefined || replacement.phase === 'trust') return
  const remaining = await findEncryptedWith(etcd, replacement.previous.name, signal)
  if (remaining.length === 0) return
  const message = `etcd holds ${remaining.length} objects that are encrypted with ${replacement.previous.name}: ${truncateList(remaining, 3)}`
  throw new HyperkubeError('KEYS_STILL_ENCRYPTED', message, {
    hint: 'run the same command again to rewrite them',
  })
}
