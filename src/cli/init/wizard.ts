import type { z } from 'zod'
import { isNetwork } from '../../spec/cidr.ts'
import { type HostRole, sshSchema } from '../../spec/host.ts'
import { networkSchema } from '../../spec/network.ts'
import { readCluster } from '../../spec/read-cluster.ts'
import { address, cidr, dnsLabel } from '../../spec/scalars.ts'
import type { Prompts } from '../command/prompts.ts'
import { type ClusterDraft, type HostDraft, type NetworkDraft, renderClusterDraft } from './cluster-draft.ts'

export async function promptName(prompts: Prompts): Promise<string> {
  return prompts.text({
    message: 'Cluster name?',
    fallback: 'cluster',
    check: (input) => findSchemaError(dnsLabel, input),
  })
}

/**
 * Asks for all settings of a first cluster.yml other than the name, until they are valid. The first entry of
 * `versions` is the default.
 */
export async function promptCluster(
  prompts: Prompts,
  name: string,
  versions: readonly string[],
): Promise<ClusterDraft> {
  const kubernetes = await prompts.select({
    message: 'Kubernetes version?',
    choices: versions.map((value) => ({ value, label: value })),
    fallback: versions[0] ?? '',
  })
  return promptNetworks(prompts, { name, kubernetes, hosts: await promptHosts(prompts) })
}

const purposes = [
  { value: 'both', label: 'control plane and worker', roles: ['control-plane', 'worker'] },
  { value: 'control-plane', label: 'control plane', roles: ['control-plane'] },
  { value: 'worker', label: 'worker', roles: ['worker'] },
  { value: 'etcd', label: 'etcd only, for large clusters', roles: ['etcd'] },
] as const satisfies readonly { value: string; label: string; roles: readonly HostRole[] }[]

async function promptHosts(prompts: Prompts): Promise<readonly HostDraft[]> {
  const hosts: HostDraft[] = []
  for (;;) {
    const first = hosts.length === 0
    const hostAddress = await prompts.text({
      message: `Host ${hosts.length + 1}: IP address or DNS name?${first ? '' : ' Leave empty to finish.'}`,
      check: (input) => checkAddress(input, hosts),
    })
    if (hostAddress === '') return hosts
    const user = await prompts.text({
      message: `SSH user on ${hostAddress}?`,
      fallback: hosts.at(-1)?.user ?? 'root',
      check: (input) => findSchemaError(sshSchema.shape.user, input),
    })
    const purpose = await prompts.select({
      message: `Role of ${hostAddress}?`,
      choices: purposes,
      fallback: first ? 'both' : 'worker',
    })
    const roles = purposes.find(({ value }) => value === purpose)?.roles ?? []
    hosts.push({ user, address: hostAddress, roles })
  }
}

function checkAddress(input: string, hosts: readonly HostDraft[]): string | undefined {
  if (input === '') {
    const hasControlPlane = hosts.some(({ roles }) => roles.includes('control-plane'))
    return hasControlPlane ? undefined : 'enter a host: the cluster needs at least one control plane'
  }
  if (hosts.some((host) => host.address === input)) return 'this host is already in the list'
  return findSchemaError(address, input)
}

async function promptNetworks(prompts: Prompts, draft: ClusterDraft): Promise<ClusterDraft> {
  const { pods, services } = networkSchema.parse({})
  const defaults = { pods: pods.join(), services: services.join() }
  const message = `Pod network ${defaults.pods}, service network ${defaults.services}. Do your hosts already use these addresses?`
  if (findNetworkProblems(draft) === '' && !(await prompts.confirm({ message, fallback: false })))
    return draft
  let current = draft
  do {
    const problems = findNetworkProblems(current)
    if (problems !== '') await prompts.show('These networks overlap or are invalid', problems)
    current = { ...draft, network: await promptNetworkRanges(prompts, current.network ?? defaults) }
  } while (findNetworkProblems(current) !== '')
  return current
}

async function promptNetworkRanges(
  prompts: Prompts,
  { pods, services }: NetworkDraft,
): Promise<NetworkDraft> {
  const promptRange = async (message: string, fallback: string): Promise<string> =>
    prompts.text({ message, fallback, check: checkNetworkRange })
  return {
    pods: await promptRange('Pod network (CIDR)?', pods),
    services: await promptRange('Service network (CIDR)?', services),
  }
}

function checkNetworkRange(input: string): string | undefined {
  return (
    findSchemaError(cidr, input) ??
    (isNetwork(input) ? undefined : 'must be the first address of the network')
  )
}

/** Finds overlaps of the networks with each other and with host addresses. */
function findNetworkProblems(draft: ClusterDraft): string {
  const { findings } = readCluster({ file: 'cluster.yml', text: renderClusterDraft(draft) })
  return findings
    .filter(({ severity }) => severity === 'error')
    .filter(({ code, path }) => code === 'SPEC_OVERLAP' || path?.startsWith('spec.network'))
    .map(({ message }) => message)
    .join('\n')
}

function findSchemaError(schema: z.ZodType, input: string): string | undefined {
  return schema.safeParse(input).error?.issues[0]?.message
}
