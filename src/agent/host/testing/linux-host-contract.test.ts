import { expect, test } from 'vitest'
import { edgeContract } from './linux-host-contract.ts'
import { temporaryHost } from './temporary-host.ts'

test.each(edgeContract)('in memory: $name', async ({ check }) => {
  await using host = await temporaryHost()
  await expect(check(host)).resolves.toBeUndefined()
})
