import { makeRequest } from '../../src/pki/request.ts'
import { signRequest } from '../../src/pki/sign.ts'
import { works } from './heal-components.ts'
import type { HealRow } from './heal-row.ts'
import { votersOf } from './membership.ts'

const common = { expects: 'refuses', runs: 1, alone: false, clients: 'elsewhere' } as const
const [data, kept] = ['/var/lib/etcd/data', '/root/heal-etcd']
const kubelet = '/etc/hyperkube/kubelet'

/** What agents do not heal, and say who can. */
export const operatorRows: readonly HealRow[] = [
  {
    ...{ ...common, id: 'etcd-data-deleted', what: 'data of a member of etcd deleted, then SIGKILL' },
    ...{ hosts: ['cp3'], component: 'etcd', codes: ['ETCD_DATA_LOST'], within: 300_000, seconds: 240 },
    async inject(_scene, host) {
      // A copy for whoever mends it by hand, of a member that stands still meanwhile.
      await host.script(`pid=$(systemctl show -P MainPID etcd)
        [ "$pid" -gt 1 ]
        kill -STOP $pid
        rm -rf ${kept}
        cp -a ${data} ${kept}
        rm -rf ${data}
        kill -KILL $pid
        [ ! -e ${data} ]`)
    },
    async undo(scene, host) {
      if (!(await works(scene, host, 'etcd'))) {
        await host.script(`if [ -e ${kept} ]; then
          systemctl stop etcd
          rm -rf ${data}
          cp -a ${kept} ${data}
          systemctl reset-failed etcd || true
          systemctl start --no-block etcd
        fi`)
      }
      await host.script(`rm -rf ${kept}`)
    },
    async healed(scene, host) {
      const other = scene.controlPlanes.find(({ name }) => name !== host.name)
      if (other === undefined || !(await votersOf(other)).includes(host.name)) return false
      return (await works(scene, host, 'etcd')) && works(scene, host, 'kube-apiserver')
    },
  },
  {
    ...{ ...common, id: 'certificate-expired', what: 'client certificate of a kubelet expired' },
    ...{ hosts: ['w2'], component: 'kubelet', codes: ['CERTIFICATE_EXPIRED', 'HEAL_NEEDS_OPERATOR'] },
    ...{ within: 240_000, seconds: 90 },
    async inject({ operator }, host) {
      const subject = { commonName: `system:node:${host.name}`, organizations: ['system:nodes'] }
      const names = { dns: [], ip: [] }
      const { request, privateKey } = await makeRequest('kubelet', subject, names)
      const { authorities } = await operator.identity()
      const wish = { subject, names, usages: ['client'] as const, lifetime: 60_000 }
      const then = new Date(Date.now() - 120_000)
      const expired = await signRequest(authorities.kubernetes, request, wish, then)
      await host.exec(['sh', '-c', `cat > ${kubelet}/client.key`], { input: privateKey.revealText() })
      await host.exec(['sh', '-c', `cat > ${kubelet}/client.crt`], { input: expired })
      // A connection that is open is not asked again.
      await host.script('systemctl restart --no-block kubelet')
      const { stdout } = await operator.hyperkube('certs', 'list', host.name, '-o', 'json')
      if (!stdout.includes('"expired"')) throw new Error(`no certificate of ${host.name} has expired`)
    },
    async undo({ operator }, host) {
      const { stdout } = await operator.hyperkube('certs', 'list', host.name, '-o', 'json')
      if (stdout.includes('"expired"')) await operator.must(0, 'certs', 'renew', host.name, '--yes')
    },
    async healed(scene, host) {
      // The node is missed only after a while: as long as nobody has a new certificate, nothing has healed.
      const { stdout } = await scene.operator.hyperkube('certs', 'list', host.name, '-o', 'json')
      return !stdout.includes('"expired"') && works(scene, host, 'kubelet')
    },
  },
]
