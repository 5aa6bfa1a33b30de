import { etcdDataDirectory, etcdUser } from '../../contract/etcd-restore.ts'
import type { Predecessor } from '../../contract/predecessor.ts'
import type { AdoptionSource } from '../../identity/identity.ts'
import type { PublicIdentity } from '../../identity/public-identity.ts'
import { type ComponentPlanner, isControlPlane, type LinuxPlanContext, type PlanContext } from '../context.ts'

const manifests = '/etc/kubernetes/manifests'

/**
 * Data of etcd. Both tools have it directly in the directory that hyperkube's etcd has for itself. RKE1 mounts
 * this directory into its container as /var/lib/rancher/etcd.
 */
const etcdData = { from: '/var/lib/etcd/member', to: `${etcdDataDirectory}/member`, owner: etcdUser }

/** What kubeadm runs instead of a component, by the name of the component. */
const kubeadmPredecessors: Readonly<Record<string, WithoutKept>> = {
  etcd: { ...buildStaticPod('etcd'), data: etcdData },
  'kube-apiserver': buildStaticPod('kube-apiserver'),
  'kube-controller-manager': buildStaticPod('kube-controller-manager'),
  'kube-scheduler': buildStaticPod('kube-scheduler'),
  containerd: { kind: 'unit', unit: 'containerd.service' },
  kubelet: { kind: 'unit', unit: 'kubelet.service' },
}

/**
 * What RKE1 runs instead of a component, by the name of the component. Its containerd belongs to Docker, and its
 * container service-sidekick never runs, so no component replaces them.
 */
const rke1Predecessors: Readonly<Record<string, WithoutKept>> = {
  etcd: { ...buildContainer('etcd'), data: etcdData },
  'kube-apiserver': buildContainer('kube-apiserver'),
  'kube-controller-manager': buildContainer('kube-controller-manager'),
  'kube-scheduler': buildContainer('kube-scheduler'),
  'apiserver-proxy': buildContainer('nginx-proxy'),
  kubelet: buildContainer('kubelet'),
  'kube-proxy': buildContainer('kube-proxy'),
}

const predecessors: Readonly<Record<AdoptionSource, Readonly<Record<string, WithoutKept>>>> = {
  kubeadm: kubeadmPredecessors,
  rke1: rke1Predecessors,
}

type Kind<K extends Predecessor['kind']> = Omit<Extract<Predecessor, { kind: K }>, 'kept'>
type WithoutKept = Kind<'static-pod'> | Kind<'unit'> | Kind<'container'>

function buildStaticPod(program: string): Kind<'static-pod'> {
  return { kind: 'static-pod', manifest: `${manifests}/${program}.yaml`, program }
}

function buildContainer(container: string): Kind<'container'> {
  return { kind: 'container', container }
}

/** True if another tool installed this host. */
export function isAdoptedHost({
  identity: { adoption },
  host,
}: {
  readonly identity: Pick<PublicIdentity, 'adoption'>
  readonly host: { readonly name: string }
}): boolean {
  return adoption !== undefined && (adoption.hosts?.includes(host.name) ?? true)
}

/** True if RKE1 installed this host, and the host can still return to it. */
export function canReturnToRke1(subject: Parameters<typeof isAdoptedHost>[0]): boolean {
  const { adoption } = subject.identity
  return adoption?.from === 'rke1' && !adoption.committed && isAdoptedHost(subject)
}

type Subject = Pick<PlanContext, 'identity' | 'host'>

/** Finds what the component replaces on this host. */
function findPredecessor(subject: Subject, component: string): WithoutKept | undefined {
  const { adoption } = subject.identity
  if (adoption === undefined || !isAdoptedHost(subject)) return undefined
  // Control planes of RKE1 use their own API server and have no proxy.
  const hasNone = adoption.from === 'rke1' && component === 'apiserver-proxy' && isControlPlane(subject)
  return hasNone ? undefined : predecessors[adoption.from][component]
}

/** True if the component replaces a unit of the other tool that has the same name. */
export function replacesUnit(subject: Subject, component: string): boolean {
  return findPredecessor(subject, component)?.kind === 'unit'
}

/** Adds what the component replaces on an adopted host to its plan. */
export function withPredecessor(
  planner: ComponentPlanner<LinuxPlanContext>,
): ComponentPlanner<LinuxPlanContext> {
  return (context) => {
    const planned = planner(context)
    if (planned === undefined) return undefined
    const predecessor = findPredecessor(context, planned.name)
    if (predecessor === undefined) return planned
    return { ...planned, replaces: { ...predecessor, kept: context.identity.adoption?.committed !== true } }
  }
}
