import { basename, dirname, join, resolve } from 'node:path'
import { InvalidArgumentError } from 'commander'
import { z } from 'zod'
import type { AdoptionTarget, TargetHost } from '../../actions/adopt.ts'
import { hasCode, HyperkubeError } from '../../kit/errors.ts'
import type { ExistingKeys } from '../../identity/import-identity.ts'
import { parseRke1State } from '../../lifecycle/adoption/rke1-state.ts'
import { clusterSchema } from '../../spec/cluster.ts'
import { address as addressSchema } from '../../spec/scalars.ts'
import { readRke1 } from '../../spec/rke1/read-rke1.ts'
import { missingRke1File, readClusterSource } from '../../workspace/load-cluster.ts'
import type { CommandContext } from '../command/command.ts'
import { formatFinding } from '../command/print.ts'

export const adoptHostSchema = z.object({
  user: z.string().optional(),
  address: z.string(),
  port: z.number().optional(),
})
export type AdoptHostFlag = z.infer<typeof adoptHostSchema>

/** Parses one value of --host: [USER@]ADDRESS[:PORT]. An IPv6 address with a port has brackets. */
export function parseAdoptHostFlag(
  text: string,
  hosts: readonly AdoptHostFlag[] = [],
): readonly AdoptHostFlag[] {
  const [, user, bracketed, plain, port] =
    /^(?:([^@]+)@)?(?:\[([^\]]+)\]|([^@[\]]+?))(?::(\d{1,5}))?$/.exec(text) ?? []
  const isPlainIpv6 = text.split(':').length > 2 && !text.includes('[')
  const address = isPlainIpv6 ? text.slice(text.indexOf('@') + 1) : (bracketed ?? plain)
  if (address === undefined || !addressSchema.safeParse(address).success)
    throw new InvalidArgumentError('expected [USER@]ADDRESS[:PORT], such as root@192.168.1.11')
  if (hosts.some((host) => host.address === address))
    throw new InvalidArgumentError(`${address} is given twice`)
  return [...hosts, { user, address, ...(port === undefined || isPlainIpv6 ? {} : { port: Number(port) }) }]
}

/** Makes a path absolute, because paths in cluster.yml are relative to the file. */
function resolveKeyPath(path: string): string {
  return path.startsWith('~/') ? path : resolve(path)
}

/** Builds the target of a kubeadm cluster from flags. */
export function buildKubeadmTarget(
  hosts: readonly AdoptHostFlag[],
  sshKey: string | undefined,
): AdoptionTarget {
  return {
    from: 'kubeadm',
    hosts: hosts.map(({ user, address, port }): TargetHost => ({
      address,
      ssh: { ...(user === undefined ? {} : { user }), ...(port === undefined ? {} : { port }) },
    })),
    windowsHosts: [],
    ssh: sshKey === undefined ? undefined : { key: resolveKeyPath(sshKey) },
  }
}

/** The target of an RKE1 cluster, with the settings of its file that the new cluster.yml keeps. */
export interface Rke1Target {
  readonly target: AdoptionTarget
  readonly spec: Readonly<Record<string, unknown>>
}

/**
 * Reads the cluster.yml of RKE1 and the kubeconfig beside it. Returns undefined if the file does not describe
 * a cluster.
 */
export async function readRke1Target(
  context: Pick<CommandContext, 'readFile' | 'stderr'>,
  file: string,
  { sshKey, state }: { readonly sshKey?: string | undefined; readonly state?: string | undefined },
): Promise<Rke1Target | undefined> {
  const {
    cluster: translated,
    report,
    findings,
  } = readRke1(await readClusterSource(context, file, missingRke1File))
  const parsed = clusterSchema.safeParse(translated)
  for (const finding of findings)
    if (finding.severity === 'error' || !parsed.success) context.stderr.write(formatFinding(finding))
  if (!parsed.success) {
    if (translated !== undefined) {
      const [issue] = parsed.error.issues
      throw new HyperkubeError(
        'ADOPT_FILE_NOT_READ',
        `${file}: ${issue?.path.join('.')}: ${issue?.message}`,
        {
          hint: `show each setting: hyperkube init --from-rke ${file} -f NEW_FILE`,
        },
      )
    }
    return undefined
  }
  const { metadata, spec } = parsed.data
  const linux = spec.hosts.filter(({ os }) => os === 'linux')
  return {
    target: {
      from: 'rke1',
      name: metadata.name,
      hosts: linux.map(({ address, ssh }) => ({ address, ssh })),
      windowsHosts: spec.hosts.filter(({ os }) => os === 'windows').map(({ name }) => name),
      ssh: sshKey === undefined ? spec.ssh : { ...spec.ssh, key: resolveKeyPath(sshKey) },
      kubeconfig: await readRke1Kubeconfig(context, file),
      hiddenSettings: report
        .filter(({ path, verdict }) => verdict === 'unsupported' && hiddenSettings.test(path))
        .map(({ path }) => path),
      ...(state === undefined ? {} : { keys: await readStateFile(context, state) }),
    },
    spec: pickKept(translated?.['spec']),
  }
}

/** Keys of RKE1's file that hosts do not show, and that have no equivalent. */
const hiddenSettings = /^services\.(?:[a-z-]+\.extra_env|kube-api\.audit_log\.configuration\.policy)$/

const keptSections = z
  .object({
    registries: z.unknown(),
    rollout: z.unknown(),
    security: z.looseObject({ audit: z.record(z.string(), z.unknown()).optional() }),
  })
  .partial()

/** Returns the settings that cannot be observed on hosts. */
function pickKept(spec: unknown): Readonly<Record<string, unknown>> {
  const { security, ...sections } = keptSections.safeParse(spec).data ?? {}
  return {
    ...Object.fromEntries(Object.entries(sections).filter(([, value]) => value !== undefined)),
    // Hosts show the level of Pod Security, with the namespaces that are exempt from it.
    ...(security?.audit === undefined ? {} : { security: { audit: security.audit } }),
  }
}

/** Reads the kubeconfig that RKE1 writes beside its cluster.yml. */
async function readRke1Kubeconfig(
  { readFile }: Pick<CommandContext, 'readFile'>,
  file: string,
): Promise<{ readonly text: string; readonly file: string }> {
  const path = join(dirname(file), `kube_config_${basename(file)}`)
  try {
    return { text: await readFile(path), file: path }
  } catch (error) {
    if (!hasCode(error, 'ENOENT')) throw error
    throw new HyperkubeError('ADOPT_FILE_NOT_READ', `${path} does not exist`, {
      hint: 'RKE1 writes it beside its cluster.yml; to write it again: rke util get-kubeconfig, or rke up',
    })
  }
}

async function readStateFile(
  { readFile }: Pick<CommandContext, 'readFile'>,
  file: string,
): Promise<ExistingKeys> {
  const text = await readFile(file).catch((error: unknown) => {
    if (!hasCode(error, 'ENOENT')) throw error
    throw new HyperkubeError('ADOPT_FILE_NOT_READ', `${file} does not exist`, {
      hint: 'without --state the keys are read from the control planes',
    })
  })
  return parseRke1State(text, file)
}
