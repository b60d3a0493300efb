import fc from 'fast-check'
import t from 'tap'
import { readConfig } from '../../daemon/config/config.ts'
import { fitConnections, readDescriptorLimit } from '../../daemon/listener/descriptors.ts'
import { createNetworks } from '../../daemon/listener/networks.ts'

await t.test('at the limit of its network, its longest idle connection gives way', async (t) => {
  const networks = createNetworks<string>({ total: 10, perNetwork: 2 })
  t.same(networks.admit('a', 'a1'), { admitted: true })
  t.same(networks.admit('a', 'a2'), { admitted: true })
  t.same(networks.admit('a', 'a3'), { admitted: true, closed: 'a1' })
  networks.setBusy('a', 'a2', true)
  networks.setBusy('a', 'a3', true)
  t.same(networks.admit('a', 'a4'), { admitted: false, limit: 'network_connections' })
  t.same(networks.admit('b', 'b1'), { admitted: true })
  networks.setBusy('a', 'a2', false)
  t.same(networks.admit('a', 'a4'), { admitted: true, closed: 'a2' })
})

await t.test('a full listener: the network with most gives way, idle ones first', async (t) => {
  const networks = createNetworks<string>({ total: 5, perNetwork: 5 })
  for (const one of ['a1', 'a2', 'a3', 'a4']) networks.admit('a', one)
  networks.admit('b', 'b1')
  for (const one of ['a1', 'a2', 'a4']) networks.setBusy('a', one, true)
  t.same(networks.admit('c', 'c1'), { admitted: true, closed: 'a3' }, 'the idle one')
  networks.setBusy('c', 'c1', true)
  t.same(networks.admit('c', 'c2'), { admitted: true, closed: 'a4' }, 'the newest busy one')
  networks.setBusy('c', 'c2', true)
  t.same(networks.admit('a', 'a5'), { admitted: false, limit: 'connections' }, 'b has fewer')
  t.same(networks.admit('d', 'd1'), { admitted: true, closed: 'a2' }, 'a and c have two each')
  t.same(networks.admit('d', 'd2'), { admitted: true, closed: 'd1' }, 'its own idle one')
})

await t.test('where each network has one, an idle connection gives way', async (t) => {
  const networks = createNetworks<string>({ total: 2, perNetwork: 2 })
  networks.admit('a', 'a1')
  networks.admit('b', 'b1')
  networks.setBusy('a', 'a1', true)
  t.same(networks.admit('c', 'c1'), { admitted: true, closed: 'b1' })
  networks.setBusy('c', 'c1', true)
  t.same(networks.admit('d', 'd1'), { admitted: false, limit: 'connections' })
})

await t.test('no limit is ever passed, and nothing is left of what was removed', async () => {
  const step = fc.record({
    network: fc.constantFrom('a', 'b', 'c', 'd'),
    act: fc.constantFrom('admit', 'admit', 'busy', 'idle', 'remove'),
    at: fc.nat(30),
  })
  fc.assert(
    fc.property(fc.array(step, { maxLength: 80 }), (steps) => {
      const networks = createNetworks<number>({ total: 6, perNetwork: 4 })
      const open = new Map<number, string>()
      for (const [id, { network, act, at }] of steps.entries()) {
        const [chosen, owner] = [...open][at % Math.max(1, open.size)] ?? [-1, network]
        if (act === 'admit') {
          const admission = networks.admit(network, id)
          if (admission.admitted) open.set(id, network)
          if (admission.admitted && admission.closed !== undefined) open.delete(admission.closed)
        } else if (act === 'remove') {
          networks.remove(owner, chosen)
          open.delete(chosen)
        } else networks.setBusy(owner, chosen, act === 'busy')
        const owners = [...open.values()]
        if (open.size > 6) return false
        if (['a', 'b', 'c', 'd'].some((one) => owners.filter((own) => own === one).length > 4)) {
          return false
        }
      }
      for (const [id, owner] of open) networks.remove(owner, id)
      return [1, 2, 3, 4].every((id) => networks.admit('e', -id).admitted)
    }),
  )
})

await t.test('limits of connections fit the open files of the process together', async (t) => {
  const config = readConfig({})
  t.same(fitConnections(config, undefined), config)
  t.same(fitConnections(config, 1_048_576), config, 'what fits stays as it is set')
  for (const limit of [256, 512, 1024, 4096, 20_000, 40_000]) {
    const fitted = fitConnections(config, limit)
    const { connections, appsConnections, dispatchSockets, dispatchConcurrency } = fitted
    const most = 2 * connections + 2 * appsConnections + dispatchSockets + dispatchConcurrency
    t.ok(most + 128 <= limit, `${most} of ${limit}`)
    t.ok(most + 128 > limit - 8, 'none is left unused')
    t.equal(connections, appsConnections)
    t.ok(dispatchSockets >= dispatchConcurrency)
  }
  const few = readConfig({ KEYHOOK_CONNECTIONS: '20', KEYHOOK_DISPATCH_CONCURRENCY: '1' })
  const fitted = fitConnections(few, 1024)
  t.match(fitted, { connections: 20, dispatchSockets: 32, appsConnections: 411 })
})

await t.test('the limit of open files is read where the system tells it', async (t) => {
  t.equal(readDescriptorLimit('/nowhere'), undefined)
  const folder = t.testdir({
    limits: 'Limit    Soft Limit   Hard Limit\nMax open files            512     4096   files\n',
    unlimited: 'Max open files            unlimited            unlimited            files\n',
  })
  t.equal(readDescriptorLimit(`${folder}/limits`), 512)
  t.equal(readDescriptorLimit(`${folder}/unlimited`), undefined)
})
