import type { CommandEntry } from './command/command.ts'

/** All commands, in the order in which help lists them. */
export const commandTable: readonly CommandEntry[] = [
  {
    name: 'init',
    aliases: [],
    summary: 'write a first cluster.yml, and make the cluster’s identity',
    load: async () => (await import('./commands/init.ts')).initCommand,
  },
  {
    name: 'validate',
    aliases: ['check'],
    summary: 'say all that is wrong with a cluster.yml, each at its place',
    load: async () => (await import('./commands/validate.ts')).validateCommand,
  },
  {
    name: 'lock',
    aliases: [],
    summary: 'pin every file that the cluster is made of, by its digest',
    load: async () => (await import('./commands/lock.ts')).lockCommand,
  },
  {
    name: 'images',
    aliases: [],
    summary: 'every image that the cluster needs, and what for',
    load: async () => (await import('./commands/images.ts')).imagesCommand,
  },
  {
    name: 'bundle',
    aliases: [],
    summary: 'put all files and images into one, for hosts without internet access; verify it',
    load: async () => (await import('./commands/bundle.ts')).bundleCommand,
  },
  {
    name: 'plan',
    aliases: [],
    summary: 'say what would be done on each host, and in which order; do nothing',
    load: async () => (await import('./commands/plan.ts')).planCommand,
  },
  {
    name: 'up',
    aliases: [],
    summary: 'make the hosts a cluster, or bring it to what cluster.yml says now',
    load: async () => (await import('./commands/up.ts')).upCommand,
  },
  {
    name: 'provisional',
    aliases: [],
    summary: 'end a change of up --provisional: confirm, rollback',
    load: async () => (await import('./commands/provisional.ts')).provisionalCommand,
  },
  {
    name: 'upgrade',
    aliases: [],
    summary: 'bring the cluster to another version of Kubernetes',
    load: async () => (await import('./commands/upgrade.ts')).upgradeCommand,
  },
  {
    name: 'status',
    aliases: [],
    summary: 'how every host and every part of the cluster is',
    load: async () => (await import('./commands/status.ts')).statusCommand,
  },
  {
    name: 'doctor',
    aliases: [],
    summary: 'say what is wrong, what it comes of, and what to type',
    load: async () => (await import('./commands/doctor.ts')).doctorCommand,
  },
  {
    name: 'logs',
    aliases: [],
    summary: 'what components say, on all hosts, in one order',
    load: async () => (await import('./commands/logs.ts')).logsCommand,
  },
  {
    name: 'support-bundle',
    aliases: [],
    summary: 'put all that helps to find a fault into one file, without secrets',
    load: async () => (await import('./commands/support-bundle.ts')).supportBundleCommand,
  },
  {
    name: 'heal',
    aliases: [],
    summary: 'what agents heal by themselves: status, pause, resume',
    load: async () => (await import('./commands/heal.ts')).healCommand,
  },
  {
    name: 'addon',
    aliases: ['addons'],
    summary: 'what is kept inside the cluster: list, diff, show, enable, disable',
    load: async () => (await import('./commands/addon.ts')).addonCommand,
  },
  {
    name: 'node',
    aliases: ['nodes'],
    summary: 'hosts come and go: add, remove, replace, drain, uncordon',
    load: async () => (await import('./commands/node.ts')).nodeCommand,
  },
  {
    name: 'etcd',
    aliases: [],
    summary: 'status of etcd and its members; snapshots: save, fetch, verify, restore',
    load: async () => (await import('./commands/etcd.ts')).etcdCommand,
  },
  {
    name: 'certs',
    aliases: ['certificates'],
    summary: 'certificates and keys: list, renew, rotate-ca, rotate-key',
    load: async () => (await import('./commands/certs.ts')).certsCommand,
  },
  {
    name: 'secret',
    aliases: ['secrets'],
    summary: 'what cluster.yml refers to by name, such as passwords: set, list, remove',
    load: async () => (await import('./commands/secret.ts')).secretCommand,
  },
  {
    name: 'reset',
    aliases: [],
    summary: 'take everything of the cluster off its hosts',
    load: async () => (await import('./commands/reset.ts')).resetCommand,
  },
  {
    name: 'kubeconfig',
    aliases: [],
    summary: 'print what kubectl needs to be an administrator, for a day',
    load: async () => (await import('./commands/kubeconfig.ts')).kubeconfigCommand,
  },
  {
    name: 'proxy',
    aliases: [],
    summary: 'serve the API on this machine, through the healthy control planes',
    load: async () => (await import('./commands/proxy.ts')).proxyCommand,
  },
  {
    name: 'conformance',
    aliases: [],
    summary: 'run upstream’s own conformance tests against the cluster',
    load: async () => (await import('./commands/conformance.ts')).conformanceCommand,
  },
  {
    name: 'schema',
    aliases: [],
    summary: 'print the JSON Schema of cluster.yml, for editors',
    load: async () => (await import('./commands/schema.ts')).schemaCommand,
  },
  {
    name: 'completion',
    aliases: [],
    summary: 'print a script that completes commands in your shell',
    load: async () => (await import('./commands/completion.ts')).buildCompletionCommand(commandTable),
  },
  {
    name: 'version',
    aliases: [],
    summary: 'say which hyperkube this is',
    load: async () => (await import('./commands/version.ts')).versionCommand,
  },
  {
    name: 'facts',
    aliases: [],
    summary: 'say what this host is and has: all that a plan is made from',
    onHosts: true,
    load: async () => (await import('./commands/facts.ts')).factsCommand,
  },
  {
    name: 'agent',
    aliases: [],
    summary: 'keep this host as it was planned',
    onHosts: true,
    load: async () => (await import('./commands/agent.ts')).agentCommand,
  },
  {
    name: 'agent-call',
    aliases: [],
    summary: 'carry requests to the agent of this host, and its answers back',
    onHosts: true,
    load: async () => (await import('./commands/agent-call.ts')).agentCallCommand,
  },
  {
    name: 'agent-revert',
    aliases: [],
    summary: 'roll back to the previous agent of this Windows host, unless the new one is confirmed in time',
    onHosts: true,
    load: async () => (await import('./commands/agent-revert.ts')).agentRevertCommand,
  },
  {
    name: 'host-call',
    aliases: [],
    summary: 'handle a request on this Windows host without its agent',
    onHosts: true,
    load: async () => (await import('./commands/host-call.ts')).hostCallCommand,
  },
  {
    name: 'apiserver-proxy',
    aliases: [],
    summary: 'forward connections of a node to healthy API servers',
    onHosts: true,
    load: async () => (await import('./commands/apiserver-proxy.ts')).apiserverProxyCommand,
  },
  {
    name: 'controller-manager',
    aliases: [],
    summary: 'run the controllers that keep the cluster in its desired state',
    onHosts: true,
    load: async () => (await import('./commands/controller-manager.ts')).controllerManagerCommand,
  },
]

/**
 * Finds a command by its name or alias. Also finds the command for a link to the executable, because such
 * links are named after commands.
 */
export function findCommand(name: string): CommandEntry | undefined {
  return commandTable.find((entry) => entry.name === name || entry.aliases.includes(name))
}
