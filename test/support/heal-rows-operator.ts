import { makeRequest } from '../../src/pki/request.ts'
import { signRequest } from '../../src/pki/sign.ts'
import { isWorking } from './heal-components.ts'
import type { HealRow } from './heal-row.ts'
import { listVoters } from './membership.ts'

const common = { expects: 'refuses', runs: 1, runWithoutAgents: false, clients: 'elsewhere' } as const
const [data, backup] = ['/var/lib/etcd/data', '/root/heal-etcd']
const kubelet = '/etc/hyperkube/kubelet'

/** Faults that agents do not heal but report to an operator. */
export const operatorRows: readonly HealRow[] = [
  {
    ...{ ...common, id: 'etcd-data-deleted', what: 'data of a member of etcd deleted, then SIGKILL' },
    ...{ hosts: ['cp3'], component: 'etcd', codes: ['ETCD_DATA_LOST'], timeoutMs: 300_000, seconds: 240 },
    async inject(_cluster, host) {
      // Copies the data for `undo` while the member is paused.
      await host.script(`pid=$(systemctl show -P MainPID etcd)
        [ "$pid" -gt 1 ]
        kill -STOP $pid
        rm -rf ${backup}
        cp -a ${data} ${backup}
        rm -rf ${data}
        kill -KILL $pid
        [ ! -e ${data} ]`)
    },
    async undo(cluster, host) {
      if (!(await isWorking(cluster, host, 'etcd'))) {
        await host.script(`if [ -e ${backup} ]; then
          systemctl stop etcd
          rm -rf ${data}
          cp -a ${backup} ${data}
          systemctl reset-failed etcd || true
          systemctl start --no-block etcd
        fi`)
      }
      await host.script(`rm -rf ${backup}`)
    },
    async isHealed(cluster, host) {
      const other = cluster.controlPlanes.find(({ name }) => name !== host.name)
      if (other === undefined || !(await listVoters(other)).includes(host.name)) return false
      return (await isWorking(cluster, host, 'etcd')) && isWorking(cluster, host, 'kube-apiserver')
    },
  },
  {
    ...{ ...common, id: 'certificate-expired', what: 'client certificate of a kubelet expired' },
    ...{ hosts: ['w2'], component: 'kubelet', codes: ['CERTIFICATE_EXPIRED', 'HEAL_NEEDS_OPERATOR'] },
    ...{ timeoutMs: 240_000, seconds: 90 },
    async inject({ operator }, host) {
      const subject = { commonName: `system:node:${host.name}`, organizations: ['system:nodes'] }
      const names = { dns: [], ip: [] }
      const { request, privateKey } = await makeRequest('kubelet', subject, names)
      const { cas } = await operator.identity()
      const spec = { subject, names, usages: ['client'] as const, lifetime: 60_000 }
      const issuedAt = new Date(Date.now() - 120_000)
      const expired = await signRequest(cas.kubernetes, request, spec, issuedAt)
      await host.exec(['sh', '-c', `cat > ${kubelet}/client.key`], { input: privateKey.revealText() })
      await host.exec(['sh', '-c', `cat > ${kubelet}/client.crt`], { input: expired })
      // The kubelet must authenticate again with the expired certificate. Without a restart, its open
      // connections would stay authenticated.
      await host.script('systemctl restart --no-block kubelet')
      const { stdout } = await operator.hyperkube('certs', 'list', host.name, '-o', 'json')
      if (!stdout.includes('"expired"')) throw new Error(`no certificate of ${host.name} has expired`)
    },
    async undo({ operator }, host) {
      const { stdout } = await operator.hyperkube('certs', 'list', host.name, '-o', 'json')
      if (stdout.includes('"expired"')) await operator.must(0, 'certs', 'renew', host.name, '--yes')
    },
    async isHealed(cluster, host) {
      // Checks the certificate too, because the node becomes NotReady only later.
      const { stdout } = await cluster.operator.hyperkube('certs', 'list', host.name, '-o', 'json')
      return !stdout.includes('"expired"') && isWorking(cluster, host, 'kubelet')
    },
  },
]
