import type { Host } from '../../lab/hosts/host.ts'
import { conflist, overlay, shopAddress, subnetFile, works } from './heal-components.ts'
import type { Component, HealRow } from './heal-row.ts'
import { goOn } from './heal-rows-process.ts'
import type { HealScene } from './heal-cluster.ts'

/** Where what is taken away lies, until it is certain that nobody needs it. */
const kept = '/root/heal-kept'
const common = { expects: 'heals', runs: 1, clients: 'there', alone: true } as const

const gone = ['HEALTH_NOT_RUNNING', 'SERVICE_DRIFT', 'HEALTH_NO_ANSWER'] as const

/** What happens to files, units, interfaces and tables of a host. */
export const fileRows: readonly HealRow[] = [
  fileRow({
    ...{ id: 'binary-deleted-kubelet', what: 'program of kubelet deleted, then SIGKILL' },
    ...{ component: 'kubelet', host: 'w1', path: '/opt/hyperkube/kubelet-*/kubelet' },
    ...{ spoil: 'rm "$file"', bitten: '[ ! -e "$file" ]' },
  }),
  fileRow({
    ...{ id: 'binary-truncated-kube-proxy', what: 'program of kube-proxy truncated, then SIGKILL' },
    ...{ component: 'kube-proxy', host: 'w2', path: '/opt/hyperkube/kube-proxy-*/kube-proxy' },
    // Another file in its place: to the one that runs nobody can write.
    spoil: 'head -c 1000 "$file" > "$file.new"; chmod 755 "$file.new"; mv "$file.new" "$file"',
    bitten: '[ "$(stat -c %s "$file")" = 1000 ]',
  }),
  ...(['kubelet', 'kube-proxy'] as const).map((component) =>
    fileRow({
      ...{
        id: `config-corrupted-${component}`,
        what: `configuration of ${component} corrupted, then SIGKILL`,
      },
      ...{ component, host: 'cp2', path: `/etc/hyperkube/${component}/config.yaml` },
      ...{ spoil: 'echo "{{ nobody reads this" > "$file"', bitten: 'grep -q "^{{" "$file"' },
    }),
  ),
  unitRow('kubelet'),
  derivedRow(),
  {
    ...{ ...common, id: 'interface-deleted', what: 'interface of flannel deleted', component: 'flanneld' },
    ...{ hosts: ['w1'], codes: ['OVERLAY_INTERFACE', 'OVERLAY_ROUTES'], within: 120_000, seconds: 45 },
    async inject(_scene, host) {
      // flanneld may have made another one by the time that anybody looks.
      await host.script(`index() { ip -o link show dev ${overlay} 2>/dev/null | cut -d: -f1; }
        before=$(index); [ -n "$before" ]; ip link delete ${overlay}; [ "$(index)" != "$before" ]`)
    },
    undo: async (scene, host) => restartUnless(scene, host, 'flanneld'),
    healed: async (scene, host) => works(scene, host, 'flanneld'),
  },
  {
    ...{ ...common, id: 'nft-flushed', what: 'all tables of nftables flushed', component: 'kube-proxy' },
    ...{ hosts: ['w2'], codes: ['SERVICE_RULES'], within: 120_000, seconds: 45 },
    async inject(_scene, host) {
      await host.script(`nft flush ruleset; ! curl -fsm 2 http://${shopAddress}/hostname`)
    },
    undo: async (scene, host) => restartUnless(scene, host, 'kube-proxy', 'flanneld'),
    healed: async (scene, host) => (await works(scene, host, 'kube-proxy')) && works(scene, host, 'flanneld'),
  },
  {
    ...{ ...common, id: 'subnet-stale', what: 'subnet.env of flannel stale', component: 'flanneld' },
    ...{ hosts: ['w1'], codes: ['OVERLAY_SUBNET'], within: 180_000, seconds: 60 },
    async inject(_scene, host) {
      await host.script(`${keep(subnetFile)}
        ${keep(conflist)}
        sed -i 's/^FLANNEL_SUBNET=.*/FLANNEL_SUBNET=10.244.250.1\\/24/' ${subnetFile}
        grep -q 10.244.250 ${subnetFile}`)
    },
    async undo(scene, host) {
      if (await scene.holds(host, `${same(subnetFile)} && ${same(conflist)}`)) return
      await host.script(`${back(subnetFile)}; ${back(conflist)}; systemctl restart flanneld`)
    },
    healed: async (scene, host) =>
      (await scene.holds(host, `${same(subnetFile)} && ${same(conflist)}`)) && works(scene, host, 'flanneld'),
  },
]

interface FileFault {
  readonly id: string
  readonly what: string
  readonly component: Component
  readonly host: string
  /** As a shell finds it. */
  readonly path: string
  /** Scripts, to which it is $file. */
  readonly spoil: string
  readonly bitten: string
}

/** A file that is not what was put there, and a process that dies and needs it. */
function fileRow({ id, what, component, host: name, path, spoil, bitten }: FileFault): HealRow {
  const file = `file=$(ls ${path} ${kept}${path} 2>/dev/null | head -n 1); file=\${file#${kept}}`
  return {
    ...{ ...common, id, what, component, hosts: [name], codes: gone, within: 180_000, seconds: 60 },
    async inject(_scene, host) {
      // kube-proxy sees a change of its configuration, and may end by itself before anybody kills it.
      await host.script(`${file}; ${keep('"$file"')}; before=$(systemctl show -P MainPID ${component})
        ${spoil}; ${bitten}; kill -KILL "$before" || ! [ -d "/proc/$before" ]`)
    },
    async undo(scene, host) {
      if (await scene.holds(host, `${file}; ${same('"$file"')}`)) return
      await host.script(`${file}; ${back('"$file"')}; systemctl reset-failed ${component} || true
        systemctl restart ${component}`)
    },
    healed: async (scene, host) =>
      (await scene.holds(host, `${file}; ${same('"$file"')}`)) && works(scene, host, component),
  }
}

function unitRow(component: Component): HealRow {
  return {
    ...{
      ...common,
      id: `disabled-${component}`,
      what: `unit of ${component} disabled and stopped`,
      component,
    },
    ...{ hosts: ['w2'], codes: gone, within: 180_000, seconds: 45 },
    async inject(_scene, host) {
      await host.script(`systemctl disable --now ${component}
        [ "$(systemctl is-enabled ${component} || true)" = disabled ]
        [ "$(systemctl is-active ${component} || true)" = inactive ]`)
    },
    undo: async (_scene, host) => void (await host.script(`systemctl enable --now ${component}`)),
    healed: async (scene, host) =>
      (await scene.holds(host, `[ "$(systemctl is-enabled ${component})" = enabled ]`)) &&
      works(scene, host, component),
  }
}

function derivedRow(): HealRow {
  return {
    ...{ ...common, id: 'conflist-deleted', what: 'configuration of CNI deleted', hosts: ['w1'] },
    codes: ['RUNTIME_NO_NETWORK', 'SANDBOX_NOT_JOINED', 'SERVICE_DRIFT'],
    ...{ within: 180_000, seconds: 75 },
    inject: async (_scene, host) => void (await host.script(`${keep(conflist)}; rm ${conflist}`)),
    async undo(scene, host) {
      if (!(await scene.holds(host, same(conflist)))) await host.script(back(conflist))
    },
    healed: async (scene, host) => (await scene.holds(host, same(conflist))) && works(scene, host, 'kubelet'),
  }
}

/** Scripts about a path that a shell can read; what is kept has the same path below. */
function keep(path: string): string {
  return `mkdir -p "$(dirname ${kept}${path})"; cp -a ${path} ${kept}${path}`
}

function same(path: string): string {
  return `cmp -s ${path} ${kept}${path}`
}

function back(path: string): string {
  return `if [ -e ${kept}${path} ]; then cp -a ${kept}${path} ${path}.back; mv ${path}.back ${path}; fi`
}

/** Whoever works is left in peace. */
async function restartUnless(scene: HealScene, host: Host, ...names: readonly Component[]): Promise<void> {
  for (const name of names) {
    if (await works(scene, host, name)) continue
    await goOn(host, name)
    await host.script(`systemctl restart ${name}`)
  }
}
