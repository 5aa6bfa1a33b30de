import { expect, test } from 'vitest'
import { formatCertificateList } from './list-text.ts'

const plain = (_colour: string, text: string): string => text

test('certs list shows a row for each certificate, the CAs and unreachable hosts', () => {
  const times = { from: '2026-11-15T11:55:00.000Z', until: '2027-11-15T12:00:00.000Z' }
  const text = formatCertificateList(
    {
      certificates: [
        {
          host: 'cp1',
          component: 'kubelet',
          file: '/etc/hyperkube/kubelet/client.crt',
          ca: 'kubernetes',
          state: 'good',
          subject: 'CN=system:node:cp1',
          signedBy: 'current',
          due: '2027-07-16T19:58:20.000Z',
          ...times,
        },
        { host: 'cp1', component: 'etcd', file: '/etc/x/peer.crt', ca: 'etcd', state: 'missing' },
      ],
      cas: [{ ca: 'etcd', use: 'current', phase: 'trust', ...times }],
      unreachable: [{ host: 'w1', reason: 'no answer' }],
    },
    false,
    plain,
  )
  expect(text).toMatchInlineSnapshot(`
    "HOST  COMPONENT  CERTIFICATE  CA          STATE    DUE               UNTIL
    cp1   kubelet    client.crt   kubernetes  good     2027-07-16 19:58  2027-11-15 12:00
    cp1   etcd       peer.crt     etcd        missing  -                 -

    CA    KEY      FROM              UNTIL             REPLACEMENT
    etcd  current  2026-11-15 11:55  2027-11-15 12:00  trust

    w1: no answer
    "
  `)
})
