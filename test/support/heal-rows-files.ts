import type { Host } from '../../lab/hosts/host.ts'
import { conflist, overlay, shopAddress, subnetFile, isWorking } from './heal-components.ts'
import type { Component, HealRow } from './heal-row.ts'
import { resumeProcess } from './heal-rows-process.ts'
import type { HealCluster } from './heal-cluster.ts'

/** Directory for backups of deleted and changed files, for `undo`. */
const backupDirectory = '/root/heal-kept'
const common = { expects: 'heals', runs: 1, clients: 'there', runWithoutAgents: true } as const

const goneCodes = ['HEALTH_NOT_RUNNING', 'SERVICE_DRIFT', 'HEALTH_NO_RESPONSE'] as const

/** Faults of files, units, network interfaces and nftables of a host. */
export const fileRows: readonly HealRow[] = [
  buildFileRow({
    ...{ id: 'binary-deleted-kubelet', what: 'program of kubelet deleted, then SIGKILL' },
    ...{ component: 'kubelet', host: 'w1', path: '/opt/hyperkube/kubelet-*/kubelet' },
    ...{ corruptScript: 'rm "$file"', verifyScript: '[ ! -e "$file" ]' },
  }),
  buildFileRow({
    ...{ id: 'binary-truncated-kube-proxy', what: 'program of kube-proxy truncated, then SIGKILL' },
    ...{ component: 'kube-proxy', host: 'w2', path: '/opt/hyperkube/kube-proxy-*/kube-proxy' },
    // Replaces the file, because the file of a running program cannot be written.
    corruptScript: 'head -c 1000 "$file" > "$file.new"; chmod 755 "$file.new"; mv "$file.new" "$file"',
    verifyScript: '[ "$(stat -c %s "$file")" = 1000 ]',
  }),
  ...(['kubelet', 'kube-proxy'] as const).map((component) =>
    buildFileRow({
      ...{
        id: `config-corrupted-${component}`,
        what: `configuration of ${component} corrupted, then SIGKILL`,
      },
      ...{ component, host: 'cp2', path: `/etc/hyperkube/${component}/config.yaml` },
      ...{ corruptScript: 'echo "{{ not valid YAML" > "$file"', verifyScript: 'grep -q "^{{" "$file"' },
    }),
  ),
  buildUnitRow('kubelet'),
  buildDerivedRow(),
  {
    ...{ ...common, id: 'interface-deleted', what: 'interface of flannel deleted', component: 'flanneld' },
    ...{ hosts: ['w1'], codes: ['OVERLAY_INTERFACE', 'OVERLAY_ROUTES'], timeoutMs: 120_000, seconds: 45 },
    async inject(_cluster, host) {
      // Compares interface indexes, because flanneld may already have created a new interface.
      await host.script(`index() { ip -o link show dev ${overlay} 2>/dev/null | cut -d: -f1; }
        before=$(index); [ -n "$before" ]; ip link delete ${overlay}; [ "$(index)" != "$before" ]`)
    },
    undo: async (cluster, host) => restartUnlessWorking(cluster, host, 'flanneld'),
    isHealed: async (cluster, host) => isWorking(cluster, host, 'flanneld'),
  },
  {
    ...{ ...common, id: 'nft-flushed', what: 'all tables of nftables flushed', component: 'kube-proxy' },
    ...{ hosts: ['w2'], codes: ['SERVICE_RULES'], timeoutMs: 120_000, seconds: 45 },
    async inject(_cluster, host) {
      await host.script(`nft flush ruleset; ! curl -fsm 2 http://${shopAddress}/hostname`)
    },
    undo: async (cluster, host) => restartUnlessWorking(cluster, host, 'kube-proxy', 'flanneld'),
    isHealed: async (cluster, host) =>
      (await isWorking(cluster, host, 'kube-proxy')) && isWorking(cluster, host, 'flanneld'),
  },
  {
    ...{ ...common, id: 'subnet-stale', what: 'subnet.env of flannel stale', component: 'flanneld' },
    ...{ hosts: ['w1'], codes: ['OVERLAY_SUBNET'], timeoutMs: 180_000, seconds: 60 },
    async inject(_cluster, host) {
      await host.script(`${backupScript(subnetFile)}
        ${backupScript(conflist)}
        sed -i 's/^FLANNEL_SUBNET=.*/FLANNEL_SUBNET=10.244.250.1\\/24/' ${subnetFile}
        grep -q 10.244.250 ${subnetFile}`)
    },
    async undo(cluster, host) {
      if (
        await cluster.scriptSucceeds(
          host,
          `${isUnchangedScript(subnetFile)} && ${isUnchangedScript(conflist)}`,
        )
      )
        return
      await host.script(
        `${restoreScript(subnetFile)}; ${restoreScript(conflist)}; systemctl restart flanneld`,
      )
    },
    isHealed: async (cluster, host) =>
      (await cluster.scriptSucceeds(
        host,
        `${isUnchangedScript(subnetFile)} && ${isUnchangedScript(conflist)}`,
      )) && isWorking(cluster, host, 'flanneld'),
  },
]

interface FileFault {
  readonly id: string
  readonly what: string
  readonly component: Component
  readonly host: string
  /** Path of the file, as a shell pattern. */
  readonly path: string
  /** Scripts that corrupt the file and verify the corruption. `$file` is the path. */
  readonly corruptScript: string
  readonly verifyScript: string
}

/** Builds a fault that changes a file and kills the process that needs it. */
function buildFileRow({
  id,
  what,
  component,
  host: name,
  path,
  corruptScript,
  verifyScript,
}: FileFault): HealRow {
  const file = `file=$(ls ${path} ${backupDirectory}${path} 2>/dev/null | head -n 1); file=\${file#${backupDirectory}}`
  return {
    ...{ ...common, id, what, component, hosts: [name], codes: goneCodes, timeoutMs: 180_000, seconds: 60 },
    async inject(_cluster, host) {
      // The kill may fail, because kube-proxy exits by itself when its configuration changes.
      await host.script(`${file}; ${backupScript('"$file"')}; before=$(systemctl show -P MainPID ${component})
        ${corruptScript}; ${verifyScript}; kill -KILL "$before" || ! [ -d "/proc/$before" ]`)
    },
    async undo(cluster, host) {
      if (await cluster.scriptSucceeds(host, `${file}; ${isUnchangedScript('"$file"')}`)) return
      await host.script(`${file}; ${restoreScript('"$file"')}; systemctl reset-failed ${component} || true
        systemctl restart ${component}`)
    },
    isHealed: async (cluster, host) =>
      (await cluster.scriptSucceeds(host, `${file}; ${isUnchangedScript('"$file"')}`)) &&
      isWorking(cluster, host, component),
  }
}

function buildUnitRow(component: Component): HealRow {
  return {
    ...{
      ...common,
      id: `disabled-${component}`,
      what: `unit of ${component} disabled and stopped`,
      component,
    },
    ...{ hosts: ['w2'], codes: goneCodes, timeoutMs: 180_000, seconds: 45 },
    async inject(_cluster, host) {
      await host.script(`systemctl disable --now ${component}
        [ "$(systemctl is-enabled ${component} || true)" = disabled ]
        [ "$(systemctl is-active ${component} || true)" = inactive ]`)
    },
    undo: async (_cluster, host) => void (await host.script(`systemctl enable --now ${component}`)),
    isHealed: async (cluster, host) =>
      (await cluster.scriptSucceeds(host, `[ "$(systemctl is-enabled ${component})" = enabled ]`)) &&
      isWorking(cluster, host, component),
  }
}

function buildDerivedRow(): HealRow {
  return {
    ...{ ...common, id: 'conflist-deleted', what: 'configuration of CNI deleted', hosts: ['w1'] },
    codes: ['RUNTIME_NO_NETWORK', 'SANDBOX_NOT_JOINED', 'SERVICE_DRIFT'],
    ...{ timeoutMs: 180_000, seconds: 75 },
    inject: async (_cluster, host) => void (await host.script(`${backupScript(conflist)}; rm ${conflist}`)),
    async undo(cluster, host) {
      if (!(await cluster.scriptSucceeds(host, isUnchangedScript(conflist))))
        await host.script(restoreScript(conflist))
    },
    isHealed: async (cluster, host) =>
      (await cluster.scriptSucceeds(host, isUnchangedScript(conflist))) &&
      isWorking(cluster, host, 'kubelet'),
  }
}

/** Builds a script that copies a path to the same path below the backup directory. */
function backupScript(path: string): string {
  return `mkdir -p "$(dirname ${backupDirectory}${path})"; cp -a ${path} ${backupDirectory}${path}`
}

function isUnchangedScript(path: string): string {
  return `cmp -s ${path} ${backupDirectory}${path}`
}

function restoreScript(path: string): string {
  return `if [ -e ${backupDirectory}${path} ]; then cp -a ${backupDirectory}${path} ${path}.back; mv ${path}.back ${path}; fi`
}

/** Restarts each of these components that does not work. */
async function restartUnlessWorking(
  cluster: HealCluster,
  host: Host,
  ...names: readonly Component[]
): Promise<void> {
  for (const name of names) {
    if (await isWorking(cluster, host, name)) continue
    await resumeProcess(host, name)
    await host.script(`systemctl restart ${name}`)
  }
}
