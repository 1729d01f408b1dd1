-- A small shop in memory: inserts, indexes, joins, sorts, updates.
create table customer(id integer primary key, name text, town text);
create table orders(id integer primary key, customer int, item text, price real, note text);
insert into customer
  with recursive n(i) as (select 1 union all select i + 1 from n where i < 20000)
  select i, 'customer ' || (i * 7919 % 20011), 'town ' || (i % 97) from n;
insert into orders
  with recursive n(i) as (select 1 union all select i + 1 from n where i < 200000)
  select i, 1 + i * 7919 % 20000, 'item ' || (i % 1009), i % 10007 / 7.0,
    'note ' || hex(i * 2654435761 % 4294967296) from n;
create index orders_customer on orders(customer);
create index orders_item on orders(item, price);
select town, count(*), sum(price), group_concat(distinct substr(item, 1, 6))
  from orders join customer on customer.id = orders.customer group by town order by 3 desc limit 5;
select item, avg(price), max(note) from orders group by item order by 2 limit 5;
update orders set price = price * 1.1, note = upper(note) || ' changed' where id % 3 = 0;
select count(distinct lower(note) || price) from orders where item like '%7%';
delete from orders where id % 5 = 0;
select substr(note, 1, 8) k, count(*) from orders group by k order by 2 desc, 1 limit 5;
