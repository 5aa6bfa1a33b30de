import type { CommandEntry } from './command.ts'

/** Every command, in the order in which help shows them. */
export const commands: readonly CommandEntry[] = [
  {
    name: 'init',
    aliases: [],
    summary: 'write a first cluster.yml, and make the cluster’s identity',
    load: async () => (await import('./commands/init.ts')).init,
  },
  {
    name: 'validate',
    aliases: ['check'],
    summary: 'say all that is wrong with a cluster.yml, each at its place',
    load: async () => (await import('./commands/validate.ts')).validate,
  },
  {
    name: 'lock',
    aliases: [],
    summary: 'pin every file that the cluster is made of, by its digest',
    load: async () => (await import('./commands/lock.ts')).lock,
  },
  {
    name: 'images',
    aliases: [],
    summary: 'every image that the cluster needs, and what for',
    load: async () => (await import('./commands/images.ts')).images,
  },
  {
    name: 'bundle',
    aliases: [],
    summary: 'put all files and images into one, for hosts with no way out; verify it',
    load: async () => (await import('./commands/bundle.ts')).bundle,
  },
  {
    name: 'plan',
    aliases: [],
    summary: 'say what would be done on each host, and in which order; do nothing',
    load: async () => (await import('./commands/plan.ts')).plan,
  },
  {
    name: 'up',
    aliases: [],
    summary: 'make the hosts a cluster, or bring it to what cluster.yml says now',
    load: async () => (await import('./commands/up.ts')).up,
  },
  {
    name: 'trial',
    aliases: [],
    summary: 'end what up --trial has begun: keep, back',
    load: async () => (await import('./commands/provisional.ts')).trial,
  },
  {
    name: 'upgrade',
    aliases: [],
    summary: 'bring the cluster to another version of Kubernetes',
    load: async () => (await import('./commands/upgrade.ts')).upgrade,
  },
  {
    name: 'status',
    aliases: [],
    summary: 'how every host and every part of the cluster is',
    load: async () => (await import('./commands/status.ts')).status,
  },
  {
    name: 'doctor',
    aliases: [],
    summary: 'say what is wrong, what it comes of, and what to type',
    load: async () => (await import('./commands/doctor.ts')).doctor,
  },
  {
    name: 'logs',
    aliases: [],
    summary: 'what components say, on all hosts, in one order',
    load: async () => (await import('./commands/logs.ts')).logs,
  },
  {
    name: 'support',
    aliases: [],
    summary: 'put all that helps to find a fault into one file, without secrets',
    load: async () => (await import('./commands/support-bundle.ts')).support,
  },
  {
    name: 'heal',
    aliases: [],
    summary: 'what agents mend by themselves: status, pause, resume',
    load: async () => (await import('./commands/heal.ts')).heal,
  },
  {
    name: 'addon',
    aliases: ['addons'],
    summary: 'what is kept inside the cluster: list, diff, show, enable, disable',
    load: async () => (await import('./commands/addon.ts')).addon,
  },
  {
    name: 'node',
    aliases: ['nodes'],
    summary: 'hosts come and go: add, remove, replace, drain, uncordon',
    load: async () => (await import('./commands/node.ts')).node,
  },
  {
    name: 'etcd',
    aliases: [],
    summary: 'the cluster’s memory: how it is; snapshots of it: save, fetch, verify, restore',
    load: async () => (await import('./commands/etcd.ts')).etcd,
  },
  {
    name: 'certs',
    aliases: ['certificates'],
    summary: 'certificates and keys: list, renew, rotate-ca, rotate-key',
    load: async () => (await import('./commands/certs.ts')).certs,
  },
  {
    name: 'secret',
    aliases: ['secrets'],
    summary: 'what cluster.yml refers to by name, such as passwords: set, list, remove',
    load: async () => (await import('./commands/secret.ts')).secret,
  },
  {
    name: 'reset',
    aliases: [],
    summary: 'take everything of the cluster off its hosts',
    load: async () => (await import('./commands/reset.ts')).reset,
  },
  {
    name: 'kubeconfig',
    aliases: [],
    summary: 'print what kubectl needs to be an administrator, for a day',
    load: async () => (await import('./commands/kubeconfig.ts')).kubeconfig,
  },
  {
    name: 'proxy',
    aliases: [],
    summary: 'serve the API on this machine, whichever control planes are well',
    load: async () => (await import('./commands/proxy.ts')).proxy,
  },
  {
    name: 'conformance',
    aliases: [],
    summary: 'run upstream’s own conformance tests against the cluster',
    load: async () => (await import('./commands/conformance.ts')).conformance,
  },
  {
    name: 'schema',
    aliases: [],
    summary: 'print the JSON Schema of cluster.yml, for editors',
    load: async () => (await import('./commands/schema.ts')).schema,
  },
  {
    name: 'completion',
    aliases: [],
    summary: 'print a script that completes commands in your shell',
    load: async () => (await import('./commands/completion.ts')).completion,
  },
  {
    name: 'version',
    aliases: [],
    summary: 'say which hyperkube this is',
    load: async () => (await import('./commands/version.ts')).version,
  },
  {
    name: 'facts',
    aliases: [],
    summary: 'say what this host is and has: all that a plan is made from',
    onHosts: true,
    load: async () => (await import('./commands/facts.ts')).facts,
  },
  {
    name: 'agent',
    aliases: [],
    summary: 'keep this host as it was planned',
    onHosts: true,
    load: async () => (await import('./commands/agent.ts')).agent,
  },
  {
    name: 'agent-call',
    aliases: [],
    summary: 'carry requests to the agent of this host, and its answers back',
    onHosts: true,
    load: async () => (await import('./commands/agent-call.ts')).agentCall,
  },
  {
    name: 'agent-revert',
    aliases: [],
    summary: 'go back to the former agent of this Windows host, when the new one is not kept in time',
    onHosts: true,
    load: async () => (await import('./commands/agent-revert.ts')).agentRevert,
  },
  {
    name: 'host-call',
    aliases: [],
    summary: 'do on this Windows host what is asked for without its agent',
    onHosts: true,
    load: async () => (await import('./commands/host-call.ts')).hostCall,
  },
  {
    name: 'apiserver-proxy',
    aliases: [],
    summary: 'the way from a node to whichever API server is well',
    onHosts: true,
    load: async () => (await import('./commands/apiserver-proxy.ts')).apiserverProxy,
  },
  {
    name: 'controller-manager',
    aliases: [],
    summary: 'what must go on in the cluster after the operator has gone home',
    onHosts: true,
    load: async () => (await import('./commands/controller-manager.ts')).controllerManager,
  },
]

/** The command that a word or the name of a link stands for. */
export function findCommand(name: string): CommandEntry | undefined {
  return commands.find((entry) => entry.name === name || entry.aliases.includes(name))
}
