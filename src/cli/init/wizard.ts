import type { z } from 'zod'
import { releases } from '../../catalog/catalog.ts'
import { isNetwork } from '../../spec/cidr.ts'
import { type Role, ssh } from '../../spec/host.ts'
import { network } from '../../spec/network.ts'
import { readCluster } from '../../spec/read-cluster.ts'
import { address, cidr, dnsLabel } from '../../spec/scalars.ts'
import { newestKubernetes } from '../../spec/versions.ts'
import type { Questions } from '../prompts.ts'
import { type FirstCluster, firstFile, type FirstHost, type FirstNetwork } from './cluster-draft.ts'

export async function askName(questions: Questions): Promise<string> {
  return questions.text({
    message: 'What is the cluster called?',
    fallback: 'cluster',
    check: (answer) => complaint(dnsLabel, answer),
  })
}

/** Asks for all else that a first cluster.yml needs, until it would be valid. */
export async function askCluster(questions: Questions, name: string): Promise<FirstCluster> {
  const kubernetes = await questions.select({
    message: 'Which version of Kubernetes?',
    choices: releases.map(({ kubernetes: value }) => ({ value, label: value })),
    fallback: newestKubernetes,
  })
  return askNetwork(questions, { name, kubernetes, hosts: await askHosts(questions) })
}

const purposes = [
  { value: 'both', label: 'control plane, and it runs your pods too', roles: ['control-plane', 'worker'] },
  { value: 'control-plane', label: 'control plane', roles: ['control-plane'] },
  { value: 'worker', label: 'worker', roles: ['worker'] },
  { value: 'etcd', label: 'etcd alone, for large clusters', roles: ['etcd'] },
] as const satisfies readonly { value: string; label: string; roles: readonly Role[] }[]

async function askHosts(questions: Questions): Promise<readonly FirstHost[]> {
  const hosts: FirstHost[] = []
  for (;;) {
    const first = hosts.length === 0
    const found = await questions.text({
      message: `Machine ${hosts.length + 1}: its address?${first ? '' : ' Nothing, if there are no more.'}`,
      check: (answer) => wrongAddress(answer, hosts),
    })
    if (found === '') return hosts
    const user = await questions.text({
      message: `As whom does ssh log in at ${found}?`,
      fallback: hosts.at(-1)?.user ?? 'root',
      check: (answer) => complaint(ssh.shape.user, answer),
    })
    const purpose = await questions.select({
      message: `What is ${found} for?`,
      choices: purposes,
      fallback: first ? 'both' : 'worker',
    })
    const roles = purposes.find(({ value }) => value === purpose)?.roles ?? []
    hosts.push({ user, address: found, roles })
  }
}

function wrongAddress(answer: string, hosts: readonly FirstHost[]): string | undefined {
  if (answer === '') {
    const ruled = hosts.some(({ roles }) => roles.includes('control-plane'))
    return ruled ? undefined : 'a cluster needs a control plane'
  }
  if (hosts.some((host) => host.address === answer)) return 'this machine is in the cluster already'
  return complaint(address, answer)
}

async function askNetwork(questions: Questions, draft: FirstCluster): Promise<FirstCluster> {
  const { pods, services } = network.parse({})
  const defaults = { pods: pods.join(), services: services.join() }
  const message = `Pods get addresses in ${defaults.pods}, services in ${defaults.services}. Are these in use around your machines?`
  if (wrongNetworks(draft) === '' && !(await questions.confirm({ message, fallback: false }))) return draft
  let current = draft
  do {
    const wrong = wrongNetworks(current)
    if (wrong !== '') await questions.show('These networks do not fit', wrong)
    current = { ...draft, network: await askNetworks(questions, current.network ?? defaults) }
  } while (wrongNetworks(current) !== '')
  return current
}

async function askNetworks(questions: Questions, { pods, services }: FirstNetwork): Promise<FirstNetwork> {
  const ask = async (message: string, fallback: string): Promise<string> =>
    questions.text({ message, fallback, check: wrongNetwork })
  return {
    pods: await ask('A network for pods?', pods),
    services: await ask('A network for services?', services),
  }
}

function wrongNetwork(answer: string): string | undefined {
  return complaint(cidr, answer) ?? (isNetwork(answer) ? undefined : 'this is an address inside a network')
}

/** What is wrong with the networks among themselves and with the hosts' addresses. */
function wrongNetworks(draft: FirstCluster): string {
  const { findings } = readCluster({ file: 'cluster.yml', text: firstFile(draft) })
  return findings
    .filter(({ severity }) => severity === 'error')
    .filter(({ code, path }) => code === 'SPEC_OVERLAP' || path?.startsWith('spec.network'))
    .map(({ message }) => message)
    .join('\n')
}

function complaint(schema: z.ZodType, answer: string): string | undefined {
  return schema.safeParse(answer).error?.issues[0]?.message
}
