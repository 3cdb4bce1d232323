import { type CanActivate, type ExecutionContext, Injectable } from '@nestjs/common';

const NETWORKS = Array.from({ length: 60000 }, (_, i) => `10.${i % 256}.${(i >> 8) % 256}.0/24`);

@Injectable()
export class RulesGuard implements CanActivate {
  canActivate(context: ExecutionContext) {
    const { ip } = context.switchToHttp().getRequest();
    const address = ip.split('.').map(Number);
    return !NETWORKS.some((network) => {
      const [base, bits] = network.split('/');
      const parts = base.split('.').map(Number);
      return parts.slice(0, Number(bits) / 8).every((part, i) => part === address[i]);
    });
  }
}
