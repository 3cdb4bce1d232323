import { inject } from '@loopback/core';
import {
  DefaultCrudRepository,
  type HasManyRepositoryFactory,
  juggler,
  repository,
} from '@loopback/repository';
import { Line, Order } from './models';

export class MemoryDataSource extends juggler.DataSource {
  constructor() {
    super({ name: 'memory', connector: 'memory' });
  }
}

export class LineRepository extends DefaultCrudRepository<Line, number> {
  constructor(@inject('datasources.memory') memory: juggler.DataSource) {
    super(Line, memory);
  }
}

export class OrderRepository extends DefaultCrudRepository<Order, number> {
  readonly lines: HasManyRepositoryFactory<Line, number>;

  constructor(
    @inject('datasources.memory') memory: juggler.DataSource,
    @repository(LineRepository) lines: LineRepository,
  ) {
    super(Order, memory);
    this.lines = this.createHasManyRepositoryFactoryFor('lines', async () => lines);
    this.registerInclusionResolver('lines', this.lines.inclusionResolver);
  }
}
