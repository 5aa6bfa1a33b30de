import { expect, test } from 'vitest'
import { listRoutedNetworks } from './routes.ts'

test('routes are read as the kernel tells them', () => {
  const text = [
    'Iface\tDestination\tGateway \tFlags\tRefCnt\tUse\tMetric\tMask\t\tMTU\tWindow\tIRTT',
    'eth0\t00000000\t0100D20A\t0003\t0\t0\t0\t00000000\t0\t0\t0',
    'cni0\t0001F40A\t00000000\t0001\t0\t0\t0\t00FFFFFF\t0\t0\t0',
    'flannel.1\t0002F40A\t0002F40A\t0003\t0\t0\t0\t00FFFFFF\t0\t0\t0',
    '*\t0003F40A\t00000000\t0201\t0\t0\t0\t00FFFFFF\t0\t0\t0',
    '',
  ].join('\n')
  expect([...listRoutedNetworks(text)]).toEqual(['0.0.0.0/0', '10.244.1.0/24', '10.244.2.0/24'])
})
